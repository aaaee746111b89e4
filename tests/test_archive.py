"""tools/mkarchive: what it writes, and what it refuses."""
import os
import struct
import subprocess

MKARCHIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools", "mkarchive")


def make(out, *specs):
    return subprocess.run([MKARCHIVE, "-o", str(out), *specs], capture_output=True, text=True, check=False)


def entries(data):
    magic, count, size, _ = struct.unpack_from("<IIII", data)
    assert magic == 0x41434B31 and size == len(data) and size % 4096 == 0
    table = [struct.unpack_from("<52sIII", data, 16 + 64 * i) for i in range(count)]
    return {name.rstrip(b"\0").decode(): rest for name, *rest in table}


def test_archive_write_01(tmp_path):
    """files begin on pages, links share bytes, parents and the command are there"""
    one = tmp_path / "one"
    one.write_bytes(b"x" * 5000)
    done = make(tmp_path / "a", f"/bin/one={one}", "/bin/two=@/bin/one", "/tmp/", "--", "sh", "-c", "a b")
    assert done.returncode == 0, done.stderr
    data = (tmp_path / "a").read_bytes()
    found = entries(data)
    assert list(found) == sorted(["/bin", "/bin/one", "/bin/two", "/etc", "/etc/command", "/tmp"])
    first, size, mode = found["/bin/one"]
    assert first % 4096 == 0 and data[first:first + size] == b"x" * 5000 and mode & 0o170000 == 0o100000
    assert found["/bin/two"] == found["/bin/one"]
    first, size, _ = found["/etc/command"]
    assert data[first:first + size] == b"sh\0-c\0a b\0"
    assert found["/tmp"][:2] == [0, 0] and found["/tmp"][2] & 0o170000 == 0o040000


def test_archive_refuse_01(tmp_path):
    """a name too long, a link to nothing, a file that isn't, an archive too large"""
    one = tmp_path / "one"
    one.write_bytes(b"x" * 9000)
    for specs in ([f"/{'n' * 51}={one}"], ["/a=@/b"], [f"/a={tmp_path}/no"], [f"a={one}"],
                  ["--max", "8192", f"/a={one}"]):
        done = make(tmp_path / "a", *specs)
        assert done.returncode == 1 and done.stderr.startswith("mkarchive: "), (specs, done)
        assert not (tmp_path / "a").exists()
