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
    if report.samples["rows"]:
        out["samples"] = report.samples
    if report.maps:
        out["swap_maps"] = report.maps
    out["image_sha256"] = build.image_sha256([machine.kernel] + machine.modules)
    out.update(build.origin())
    out["seed"] = seed
    out["trace_sha256"] = report.trace_sha256()
    if not machine.lab:
        out["host_seconds"] = round(result.host_seconds, 3)
    return out


def text(out):
    """JSON, one figure a line, but a row of samples is one line."""
    rows = out.get("samples", {}).get("rows", [])
    short = {**out, "samples": {**out["samples"], "rows": []}} if rows else out
    lines = ",\n".join("      " + json.dumps(row) for row in rows)
    return json.dumps(short, indent=2).replace('"rows": []', f'"rows": [\n{lines}\n    ]') if rows else json.dumps(out, indent=2)


def write(path, machine, result, seed):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text(figures(machine, result, seed)) + "\n")
