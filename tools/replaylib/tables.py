"""The tables of the replays: machines, kernels and jobs, and of each thread story, figures and rows."""
import glob
import keyword
import os
import re
import shlex
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
STRENGTHS = {"A": "must hold", "B": "direction should hold", "C": "told only"}
JOB_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


class TableError(Exception):
    """A table that doesn't fit together; says where."""


class Run:
    """One job with one seed."""

    def __init__(self, job, name, seed, argv, cost):
        self.job, self.seed, self.argv, self.cost = job, seed, argv, cost
        self.name = f"{name}-s{seed}"

    def shell(self):
        """The tools/run command that is the heart of it."""
        return "tools/run " + shlex.join(self.argv)


class Row:
    """A claim: a dictionary's fields by name, those that may lack with a default."""

    def __init__(self, fields, thread):
        self.thread = thread
        self.id, self.strength, self.claim = fields["id"], fields["strength"], fields["claim"]
        self.jobs = fields["jobs"]                      # alias: name of a job
        self.reproduced = fields["reproduced"]
        self.different = fields.get("different", "")
        self.mechanism = fields["mechanism"]
        self.compare = fields.get("compare", [])
        self.says = fields.get("says", [])


class Tables:
    """All of it. `folder` has jobs.toml and the threads' files; a thread is NAME.toml and NAME-rows.toml."""

    def __init__(self, folder=HERE):
        self.folder = folder
        spec = _load(os.path.join(folder, "jobs.toml"))
        self.common, self.machines = spec.get("common", {}), spec["machine"]
        self.kernels, self.jobs = spec["kernel"], spec["job"]
        self.threads, self.rows = [], []
        for path in sorted(glob.glob(os.path.join(folder, "*-rows.toml"))):
            thread = _load(path.replace("-rows.toml", ".toml"))
            self.threads.append(thread)
            self.rows += [Row(fields, thread["id"]) for fields in _load(path)["row"]]
        self._check()
        self.runs = [run for name in self.jobs for run in self._runs(name)]

    def _check(self):
        seen = set()
        for name, job in self.jobs.items():
            _demand(JOB_NAME.fullmatch(name), f"job {name}: small letters, digits, - and _")
            _demand(job["machine"] in self.machines, f"job {name}: no machine {job['machine']}")
            _demand(job["kernel"] in self.kernels, f"job {name}: no kernel {job['kernel']}")
        for row in self.rows:
            _demand(row.id not in seen, f"row {row.id} stands twice")
            _demand(row.strength in STRENGTHS, f"row {row.id}: strength {row.strength}")
            for alias, name in row.jobs.items():
                _demand(alias.isidentifier() and not keyword.iskeyword(alias), f"row {row.id}: {alias} can't be a name in an expression")
                _demand(name in self.jobs, f"row {row.id}: no job {name}")
            seen.add(row.id)

    def _argv(self, job, seed):
        """tools/run's arguments, without those that say where results go."""
        machine = self.machines[job["machine"]]
        parameters = dict(self.common.get("param", {}))
        parameters.update(machine.get("param", {}))
        parameters.update(self.kernels[job["kernel"]])
        argv = ["--lab", "--rmap", self.common["rmap"], "--ram", machine["ram"]]
        for swap in machine["swap"]:
            argv += ["--swap", swap]
        if "mips" in machine:
            argv += ["--mips", machine["mips"]]
        for name, value in sorted(parameters.items()):
            argv += ["--param", f"{name}={value}"]
        argv += ["--seed", str(seed), "--timeout", str(job.get("timeout", self.common["timeout"]))]
        return argv + ["--", "sh", "-c", job["command"]]

    def _runs(self, name):
        job = self.jobs[name]
        return [Run(job, name, seed, self._argv(job, seed), job["cost"]) for seed in job["seeds"]]

    def run(self, name):
        """The run of that name."""
        for run in self.runs:
            if run.name == name:
                return run
        raise TableError(f"no job {name}; tools/replay --list tells all")

    def runs_of(self, job):
        return [self.run(f"{job}-s{seed}") for seed in self.jobs[job]["seeds"]]

    def chosen(self, ids):
        """Rows of these ids, all if there are none, and the runs that they need, long ones first."""
        unknown = set(ids) - {row.id for row in self.rows}
        if unknown:
            raise TableError(f"no row {', '.join(sorted(unknown))}")
        rows = [row for row in self.rows if not ids or row.id in ids]
        jobs = {name for row in rows for name in row.jobs.values()}
        if not ids:
            jobs = set(self.jobs)
        runs = [run for name in self.jobs if name in jobs for run in self.runs_of(name)]
        return rows, sorted(runs, key=lambda run: -run.cost)


def _load(path):
    try:
        with open(path, "rb") as f:
            return tomllib.load(f)
    except (OSError, tomllib.TOMLDecodeError) as e:
        raise TableError(f"{path}: {e}") from e


def _demand(condition, words):
    if not condition:
        raise TableError(words)
