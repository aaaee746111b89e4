"""TAP as the host units and the guest's test programs print it.

    1..3
    ok 1 mm-vma-split-01 - a hole in the middle makes two
    not ok 2 mm-vma-merge-01 - neighbours with equal rights become one
    # mm/vma.c:120: left->end == 0x3000 (seed 1)
    ok 3 mm-vma-merge-02 - ... # SKIP no FPU

The plan may stand first or last; without it, or with lines missing, the rest counts as one failure.
"""
import re

LINE = re.compile(r"^(not )?ok\b\s*(\d+)?\s*(.*)$")
NAME = re.compile(r"^[a-z0-9]+(?:-[a-z0-9_]+)*-\d+$")


class Case:
    """One numbered test."""

    def __init__(self, name, ok, sentence, details=""):
        self.name, self.ok, self.sentence, self.details = name, ok, sentence, details

    def plain(self):
        """As simple data, to travel between processes."""
        return [self.name, self.ok, self.sentence, self.details]


def _split(text):
    """Name and sentence of what follows "ok N"."""
    word, _, rest = text.partition(" ")
    return word.strip("-: "), re.sub(r"^[-:\s]+", "", rest).strip()


def parse(text, source):
    """All cases in `text`; `source` names the program in the case of a broken plan."""
    cases, plan = [], None
    notes = []
    for line in text.splitlines():
        line = line.strip()
        match = LINE.match(line)
        if match:
            rest = re.sub(r"\s*#\s*(?:SKIP|TO[D]O).*$", "", match.group(3), flags=re.IGNORECASE)
            name, sentence = _split(rest)
            cases.append(Case(name or f"{source}-{len(cases) + 1:02}", not match.group(1), sentence,
                              "\n".join(notes)))
            notes = []
        elif m := re.match(r"^1\.\.(\d+)", line):
            plan = int(m.group(1))
        elif line.startswith("#"):
            if cases and not cases[-1].ok and not notes:
                cases[-1].details += ("\n" if cases[-1].details else "") + line[1:].strip()
            else:
                notes.append(line[1:].strip())
    if plan is None or plan != len(cases):
        seen = f"{len(cases)} lines, " + ("no plan" if plan is None else f"planned {plan}")
        cases.append(Case(f"{source}-00", False, "prints as many results as it planned", "; ".join(notes + [seen])))
    return cases
