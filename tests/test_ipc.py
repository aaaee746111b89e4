"""What the rendezvous and tasks cost, and where they meet the end of memory."""
from harness.guest import run


def test_ipc_cost_01():
    """a null system call takes at most 150 instructions, a null call and its reply 1200"""
    done = run("micro", "--lab", "--ram", "32M")
    cost = {line.split()[0]: line.split()[1] for line in done.out.splitlines() if len(line.split()) == 4}
    done.expect(int(cost["null_syscall"]) <= 150 and int(cost["null_ipc"]) <= 1200, done.out)


def test_task_forkoom_01():
    """the OOM killer takes a parent while proc forks it: neither waits for the other"""
    done = run("t_task forkoom", "--lab", "--tests", "--ram", "24M", "--param", "overcommit=1")
    status, ms, _ = done.out.split()
    done.expect(status == "9" and int(ms) < 2000 and done.counters["oom_kill"] == 1, done.out)
