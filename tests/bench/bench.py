#!/usr/bin/env python3
"""Measures tracso against its peers in one run and prints the tables of docs/performance.md.

Usage: bench.py TRACSO [--rounds N]

Every row is the median and the fastest of N runs, taken in turns (one run of each command per round), so that what else the machine
does hits all of them alike. Ratios are to the first row of each table. Peers that are not installed are left out and named.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SMALL = "import ssl, sqlite3, numpy"
# As people run it: the last trace is saved, in a folder of its own.
STATE = tempfile.TemporaryDirectory()
ENVIRONMENT = {**os.environ, "XDG_STATE_HOME": STATE.name}


def once(command):
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
    return (time.perf_counter() - started) * 1000, done.returncode


def table(title, rows, rounds):
    """rows: (label, command). Prints a Markdown table."""
    present = [(label, command) for label, command in rows if shutil.which(command[0])]
    absent = [label for label, command in rows if not shutil.which(command[0])]
    times = {label: [] for label, _ in present}
    for _ in range(rounds):
        for label, command in present:
            milliseconds, status = once(command)
            if status not in (0, 1):
                print(f"{label}: exit {status}", file=sys.stderr)
            times[label].append(milliseconds)
    print(f"\n### {title}\n\n| | median ms | fastest ms | ratio |\n|---|---|---|---|")
    first = statistics.median(times[present[0][0]])
    for label, _ in present:
        median = statistics.median(times[label])
        print(f"| {label} | {median:.1f} | {min(times[label]):.1f} | {median / first:.2f} |")
    if absent:
        print(f"\nNot installed: {', '.join(absent)}.")


def start_python(code):
    child = subprocess.Popen(["/usr/bin/python3", "-c", code + "\nprint('ready', flush=True)\nimport time; time.sleep(3600)"], stdout=subprocess.PIPE)
    if child.stdout.readline() != b"ready\n":
        raise SystemExit("the target did not start")
    return child


def libraries_of(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        return len({line.split()[5] for line in maps if len(line.split()) > 5 and ".so" in line and line.split()[1][2] == "x"})


def chain_of_libraries(folder, count):
    """`count` libraries, each needing the one before and libc; a program that needs the last ones."""
    source = folder / "e.c"
    source.write_text("int one(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-c", str(source), "-o", str(folder / "e.o")], check=True)
    names = [f"libchain{i:05}.so" for i in range(count)]
    for name, needs in ((names[0], []), (names[1], names[:1])):
        subprocess.run(["gcc", "-shared", "-o", str(folder / name), str(folder / "e.o"), f"-Wl,-soname,{name}", "-Wl,--no-as-needed",
                        *[str(folder / n) for n in needs], "-Wl,-rpath,$ORIGIN"], check=True)
    # The others differ from the second in two names of the same length.
    second = (folder / names[1]).read_bytes()
    for i in range(2, count):
        (folder / names[i]).write_bytes(second.replace(names[0].encode(), b"\0before").replace(names[1].encode(), names[i].encode())
                                        .replace(b"\0before", names[i - 1].encode()))
    return names


def loads_all(folder, names):
    """By the last, which needs all: the loader sorts its list at each dlopen, so one for each would take minutes."""
    return f"import ctypes\nlibrary = ctypes.CDLL({str(folder / names[-1])!r})"


def peak_kilobytes(command):
    pid = os.fork()
    if pid == 0:
        with open(os.devnull, "w") as null:
            os.dup2(null.fileno(), 1)
            os.dup2(null.fileno(), 2)
        os.execvpe(command[0], command, ENVIRONMENT)
    return os.wait4(pid, 0)[2].ru_maxrss


def records(tracso, pid):
    """What link maps, dynamic sections and needed names cost by themselves, in ms; "-" without the test program of the same build."""
    live = pathlib.Path(tracso).parent / "tests" / "tracso_live"
    if not live.exists():
        return "-"
    out = subprocess.run([str(live), "bench: the loader's records of a process"], capture_output=True, text=True,
                         env={**ENVIRONMENT, "TRACSO_BENCH_PID": str(pid)}, check=False).stdout
    return next((line.split()[1] for line in out.splitlines() if line.startswith("records: ")), "-")


def linear_growth(tracso, rounds):
    print("\n### Growth: a Python that dlopened the last of a chain of N libraries\n\n"
          "| libraries | PID, median ms | FILE, median ms | ms per library (PID) | the loader's records alone, ms |\n|---|---|---|---|---|")
    for count in (30, 100, 300, 1000, 3000):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            names = chain_of_libraries(folder, count)
            child = start_python(loads_all(folder, names))
            try:
                live = statistics.median(once([tracso, str(child.pid)])[0] for _ in range(rounds))
                file = statistics.median(once([tracso, str(folder / names[-1])])[0] for _ in range(rounds))
                print(f"| {count} | {live:.1f} | {file:.1f} | {live / count:.3f} | {records(tracso, child.pid)} |")
            finally:
                child.kill()
                child.wait()


def largest_closure(tracso):
    """The program or library of this machine that needs the most libraries."""
    best = (0, "")
    for path in sorted({str(p.resolve()) for d in ("/usr/bin", "/usr/lib/x86_64-linux-gnu") for p in pathlib.Path(d).iterdir() if p.is_file()}):
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        out = subprocess.run([tracso, "--json", path], capture_output=True, env=ENVIRONMENT, check=False).stdout
        best = max(best, (json.loads(out)["totals"]["libraries"] if out else 0, path))
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--growth", action="store_true", help="also up to 3000 generated libraries (minutes)")
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    child = start_python(SMALL)
    pid = str(child.pid)
    try:
        print(f"Target: python3 with ssl, sqlite3, numpy: {libraries_of(pid)} mapped libraries.")
        table("A process", [("tracso PID", [tracso, pid]), ("tracso --probe path", [tracso, "--probe", "path", pid]), ("tracso --probe gdb", [tracso, "--probe", "gdb", pid]),
                            ("tracso --probe none", [tracso, "--probe", "none", pid]), ("tracso --elf readelf", [tracso, "--elf", "readelf", pid]),
                            ("tracso --json", [tracso, "--json", pid]), ("pldd", ["pldd", pid]), ("pmap", ["pmap", pid]), ("true", ["true"])], options.rounds)
        print(f"\nPeak memory of tracso PID: {peak_kilobytes([tracso, pid]) / 1024:.1f} MB")
    finally:
        child.kill()
        child.wait()
    count, largest = largest_closure(tracso)
    for title, program in (("A file: /usr/bin/gdb", "/usr/bin/gdb"), (f"The file that needs the most here: {largest}, {count} libraries", largest)):
        table(title, [("tracso FILE", [tracso, program]), ("libtree", ["libtree", program]), ("libtree -vvv", ["libtree", "-vvv", program]),
                      ("lddtree", ["lddtree", program]), ("ldd", ["ldd", program]), ("true", ["true"])], options.rounds)
    table("The command: python3 -c 'import numpy'", [("without tracso", ["/usr/bin/python3", "-c", "import numpy"]), ("tracso --run", [tracso, "--run", "/usr/bin/python3", "-c", "import numpy"])], options.rounds)
    if options.growth:
        linear_growth(tracso, max(3, options.rounds // 3))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
