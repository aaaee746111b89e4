"""The small shell and the commands of clockbox, as a person or a script meets them."""
import re

from harness.guest import run, shell

# Each line is run by `sh -c`; what it prints is compared. One boot for all of them.
LINES = [
    ("shell-list-01", "echo a; echo b", "a\nb"),
    ("shell-list-02", "true && echo yes || echo no", "yes"),
    ("shell-list-03", "false && echo yes || echo no", "no"),
    ("shell-list-04", "false || false || echo third", "third"),
    ("shell-list-05", "! false && echo not", "not"),
    ("shell-list-06", "false && echo 1 && echo 2; echo end", "end"),
    ("shell-status-01", "false; echo $?", "1"),
    ("shell-status-02", "nosuchprogram; echo $?", "127"),
    ("shell-status-03", "/etc; echo $?", "126"),
    ("shell-status-04", "sh -c 'exit 300'; echo $?", "44"),
    ("shell-status-05", "sh -c 'kill -9 $$'; echo $?", "137"),
    ("shell-quote-01", "echo 'a  b' \"c  d\" e\\ \\ f", "a  b c  d e  f"),
    ("shell-quote-02", "echo '$X' \"$X\" \"\\$X\"", "$X  $X"),
    ("shell-quote-03", "echo a#b # a comment", "a#b"),
    ("shell-variable-01", "X='a  b'; echo $X; echo \"$X\" ${X}c", "a b\na  b a bc"),
    ("shell-variable-02", "X=1; export Y=2; sh -c 'echo $X$Y'", "12"),
    ("shell-variable-03", "sh -c 'echo $0 $1 $2' name one two", "name one two"),
    ("shell-background-01", "sleep 0.1 & wait; echo done", "done"),
    ("shell-background-02", "sh -c 'exit 7' & wait $!; echo $?", "7"),
    ("shell-background-03", "sleep 100 & kill $!; wait $!; echo $?", "143"),
    ("shell-cd-01", "cd /bin; pwd; cd ..; pwd; cd nosuch || echo no", "/bin\n/\nno"),
    ("shell-exec-01", "exec echo gone; echo never", "gone"),
    ("shell-syntax-01", "echo a && ; echo b; echo c", ""),
]


def test_shell_lines():
    """every line prints what a shell prints"""
    script = "\n".join(f"echo '@{name}'\nsh -c {quote(line)}" for name, line, _ in LINES)
    done = run(script + "\ntrue")
    parts = re.split(r"^@(\S+)\n", done.out, flags=re.MULTILINE)
    seen = dict(zip(parts[1::2], parts[2::2]))
    # Messages share the console with the output; they begin with the program's name.
    for name, line, wanted in LINES:
        text = "\n".join(x for x in seen.get(name, "").splitlines()
                         if not re.match(r"sh: ", x))
        done.expect(text == wanted, f"{name}: {line!r} printed {text!r}, wanted {wanted!r}")


def quote(line):
    return "'" + line.replace("'", "'\\''") + "'"


def test_shell_script_01(tmp_path):
    """a script file runs, comments and several lines, and gives its status"""
    script = tmp_path / "job"
    script.write_text("# a comment\necho first\n\nfalse ||\necho second\nexit 5\necho never\n")
    done = run("sh /tmp/job", "--put", str(script))
    done.expect(done.exit == 5, f"exit {done.exit}")
    done.expect(done.out.split() == ["first", "second"], f"printed {done.out!r}")


def test_box_time_01():
    """time prints csh's line and gives the command's status"""
    done = run("time sh -c 'qsbench -n 200000; exit 3'")
    done.expect(done.exit == 3, f"exit {done.exit}")
    line = r"\d+\.\d{3}u \d+\.\d{3}s \d+:\d\d\.\d\d \d+\.\d% 0\+0k 0\+0io \d+pf\+0w"
    done.expect(re.search(line, done.out), f"printed {done.out!r}")


def test_box_vmstat_01():
    """vmstat prints two header lines and 16 columns a second"""
    done = shell("vmstat 1 3", audit=False)
    lines = done.out.splitlines()
    done.expect(lines[1].split() == "r b w swpd free buff cache si so bi bo in cs us sy id".split(),
                f"columns {lines[1]!r}")
    rows = [x.split() for x in lines[2:]]
    done.expect(len(rows) == 3 and all(len(r) == 16 for r in rows), f"rows {rows}")
    done.expect(int(rows[-1][15]) >= 90, "an idle machine is idle")


def test_box_ps_01():
    """ps shows init, proc and the shell with their parents"""
    done = shell("true; ps", audit=False)
    rows = {r[-1]: r for r in (x.split() for x in done.out.splitlines()[1:])}
    done.expect({"init", "proc", "sh", "ps"} <= set(rows), f"shown: {sorted(rows)}")
    done.expect(rows["ps"][1] == rows["sh"][0] and rows["sh"][1] == "1", "parents are right")


def test_box_hogmem_01():
    """hogmem counts its passes and prints the speed"""
    done = shell("hogmem 4 3", audit=False)
    done.expect(re.fullmatch(r"\.\.\.\nMemory speed: \d+\.\d\d MB/sec\n", done.out), repr(done.out))
