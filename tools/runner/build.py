"""Where the build's products lie, and where they come from."""
import hashlib
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QEMU = "qemu-system-i386"
DEFAULT_RMAP = "anon_vma"


class BuildError(Exception):
    """Something that should have been built is not there; says what to do."""


def path(rmap, name):
    """A product of one build, which must exist."""
    p = os.path.join(ROOT, "build", rmap, name)
    if not os.path.exists(p):
        raise BuildError(f"build/{rmap}/{name} is not there: run `RMAP={rmap} make`")
    return p


def kernel(rmap):
    """What the machine loads."""
    return path(rmap, "clockhand")


def kernel_symbols(rmap):
    """The same with symbols and debug information."""
    return path(rmap, "clockhand.elf")


def archive(rmap):
    return path(rmap, "system.arc")


def tests_archive(rmap):
    return path(rmap, "tests.arc")


def make_archive(out, files):
    """Call tools/mkarchive: `files` is a list of (name in the guest, host file)."""
    subprocess.run([os.path.join(ROOT, "tools", "mkarchive"), "-o", out]
                   + [f"{name}={file}" for name, file in files], check=True)


def image_sha256(files):
    """One digest over the kernel and its archives."""
    h = hashlib.sha256()
    for name in files:
        with open(name, "rb") as f:
            h.update(f.read())
    return h.hexdigest()


def _first_line(*argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.split("\n", 1)[0].strip()


def origin():
    """Versions of what made and ran the system, for the JSON."""
    newlib = _first_line("dpkg-query", "-W", "-f", "${Version}", "newlib-source")
    qemu = re.sub(r"^QEMU emulator version ", "", _first_line(QEMU, "--version"))
    return {"cc": _first_line("gcc", "--version"), "newlib": newlib, "qemu": qemu}
