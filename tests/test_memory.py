"""The calls about mappings on machines of other sizes, and what they cost. The cases: user/tests/t_m*.c, t_residency.c."""
import re

import pytest

from harness.guest import run, shell

CALLS = "t_mprotect && t_mremap && t_residency"


@pytest.mark.kept_map
@pytest.mark.parametrize("options", ["--ram 64M --swap 96M", "--ram 8M --swap 96M", "--ram 16M --swap 64M --param swap.readahead=1"],
                         ids=["mem-size-01", "mem-size-02", "mem-size-03"])
def test_mem_size(options):
    """mprotect, mremap, mincore and their kin do on other machines what they do on the usual one"""
    done = run(f"{CALLS}; s=$?; audit && exit $s", "--tests", "--timeout", "120", *options.split())
    done.expect(done.exit == 0, re.sub(r"^ok .*\n", "", done.out, flags=re.MULTILINE))


@pytest.mark.kept_map
def test_mem_pressure_01():
    """they do so while another program needs more memory than there is"""
    done = run("hogmem 20 1000 & t_mprotect && t_mremap && t_mlock; s=$?; kill $!; wait $!; audit && exit $s", "--tests", "--timeout", "120",
               "--ram", "16M", "--swap", "96M")
    done.expect(done.exit == 0, re.sub(r"^ok .*\n", "", done.out, flags=re.MULTILINE))
    done.expect(done.counters["pswpout"] > 1000, "there was no pressure")


def test_mem_room_01():
    """the 20,000th mapping without a wish costs no more than twice what the 1,000th did"""
    done = shell("t_residency rooms", "--tests", "--lab", "--ram", "32M")
    first, last = (int(n) for n in re.search(r"first (\d+) last (\d+)", done.out).groups())
    done.expect(last < 2 * first, done.out)


@pytest.mark.parametrize("call", ["mincore", "mremap"], ids=["mem-turns-01", "mem-turns-02"])
def test_mem_turns(call):
    """mincore and mremap of a GiB at once let others have their turn within a slice"""
    done = shell(f"t_residency turns {call}", "--tests", "--lab", "--ram", "32M")
    longest = int(re.search(r"longest (\d+) us", done.out).group(1))
    done.expect(40000 < longest < 53000, done.out)      # a slice is 50 ms


def test_mem_ulimit_01():
    """ulimit shows and sets limits that the programs after it have"""
    done = run("ulimit -s; ulimit -v 65536; ulimit -v; ulimit -a; hogmem 100 1 || echo refused; ulimit -v 70000; ulimit -H -v",
               "--ram", "16M", "--swap", "200M")
    done.expect(done.out.startswith("8192\n65536\n"), done.out)
    for line in ("-l  locked memory (KiB)     unlimited", "-v  virtual memory (KiB)    65536", "refused"):
        done.expect(line in done.out, done.out)
    done.expect(done.out.endswith("65536\n"), done.out)
