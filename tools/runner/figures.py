"""The JSON of a run. The order of keys is fixed; lab runs hold nothing of the host."""
import json

from . import build


def figures(machine, result, seed):
    """A dictionary in the documented order."""
    report = result.report
    out = {"exit": result.exit, "cause": result.cause}
    for name in ("elapsed", "user", "system", "kswapd", "idle"):
        out[name + "_seconds"] = report.time.get(name)
    out["config"] = dict(sorted(report.config.items()))
    out["config"].update({"rmap": machine.rmap, "qemu.ram": machine.ram, "qemu.swap": list(machine.swaps),
                          "qemu.cpu": machine.cpu, "qemu.machine": machine.machine})
    if machine.lab:
        out["config"]["mips"] = machine.mips
    out["counters"] = dict(sorted(report.counters.items()))
    out["disks"] = {name: dict(sorted(fields.items())) for name, fields in sorted(report.disks.items())}
    out["image_sha256"] = build.image_sha256([machine.kernel] + machine.modules)
    out.update(build.origin())
    out["seed"] = seed
    out["trace_sha256"] = report.trace_sha256()
    if not machine.lab:
        out["host_seconds"] = round(result.host_seconds, 3)
    return out


def write(path, machine, result, seed):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(figures(machine, result, seed), f, indent=2)
        f.write("\n")
