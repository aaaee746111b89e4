"""What the rendezvous and tasks cost, and where they meet the end of memory."""
import pytest

from harness.guest import run

# Instructions that one operation may take; first_touch zeroes 1,024 words, cow_copy copies as many.
BUDGETS = {"null_syscall": 150, "yield_switch": 450, "null_ipc": 600, "first_touch": 1750, "cow_copy": 1950,
           "fork_exit_wait": 40000, "mmap_munmap": 2500}


@pytest.mark.kept_map
def test_ipc_cost_01():
    """system call, switch, call and reply, faults, fork and mmap stay within their instruction budgets"""
    done = run("micro", "--lab", "--ram", "32M")
    cost = {line.split()[0]: line.split()[1] for line in done.out.splitlines() if len(line.split()) == 4}
    over = {name: cost[name] for name, most in BUDGETS.items() if int(cost[name]) > most}
    done.expect(not over, f"over budget: {over}\n{done.out}")


@pytest.mark.kept_map
def test_task_forkoom_01():
    """the OOM killer takes a parent while proc forks it: neither waits for the other"""
    done = run("t_task forkoom", "--lab", "--tests", "--ram", "24M", "--param", "overcommit=1")
    status, ms, _ = done.out.split()
    done.expect(status == "9" and int(ms) < 2000 and done.counters["oom_kill"] == 1, done.out)
