#!/usr/bin/env python3
"""Measures what the costs of a process cost, and prints the tables of docs/performance.md.

Usage: costs.py TRACSO [--rounds N] [--aim MS] [--pid PID] [--psutil PYTHON]

1. The report with costs (--by private) of a process of 300 libraries beside the report without: a Python that dlopened the last of a
   chain of generated libraries, and with --pid one more process of yours. All in turns, medians. Exit status 1 where the median of the
   generated one is above the aim (40 ms).
2. The quick look that `watch` and --stream take (resident, virtual, descriptors, threads, processor time), from the test program of the same
   build, beside psutil's for the same figures, in processor time of one thread. PYTHON is one that can import psutil.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import bench

PSUTIL = """
import psutil, statistics, sys, time
process = psutil.Process(int(sys.argv[1]))
def look():
    with process.oneshot():
        return process.memory_info().rss, process.num_fds(), process.num_threads(), process.cpu_times()
each = []
for _ in range(41):
    begin = time.thread_time_ns()
    for _ in range(200): look()
    each.append((time.thread_time_ns() - begin) / 200 / 1000)
print("look: %.2f us at best, %.2f in the median (psutil %s)" % (min(each), statistics.median(each), psutil.__version__))
"""


def reports(tracso, targets, rounds):
    """The medians of `--by private`, by target."""
    forms = (("tracso PID", []), ("tracso --by private PID", ["--by", "private"]), ("tracso stat -p PID", None))
    times = {(label, form): [] for label, _ in targets for form, _ in forms}
    for _ in range(rounds):
        for label, pid in targets:
            for form, words in forms:
                command = [tracso, "stat", "-p", str(pid)] if words is None else [tracso, *words, str(pid)]
                milliseconds, status = bench.once(command)
                if status != 0:
                    raise SystemExit(f"{form} of {label}: exit {status}")
                times[label, form].append(milliseconds)
    print("\n### The report with costs\n\n| process | " + " | ".join(f"{form}, ms" for form, _ in forms) + " | with costs to without |\n|---|---|---|---|---|")
    for label, _ in targets:
        medians = [statistics.median(times[label, form]) for form, _ in forms]
        cells = [f"{median:.1f} ({min(times[label, form]):.1f})" for median, (form, _) in zip(medians, forms)]
        print(f"| {label} | " + " | ".join(cells) + f" | {medians[1] / medians[0]:.2f} |")
    return {label: statistics.median(times[label, forms[1][0]]) for label, _ in targets}


def looks(tracso, pid, python):
    live = pathlib.Path(tracso).parent / "tests" / "tracso_live"
    commands = [("os::Sampler::look", [str(live), "bench: the quick look at a process"])]
    if python:
        commands.append(("psutil", [python, "-c", PSUTIL, str(pid)]))
    print("\n### One quick look\n\n| | |\n|---|---|")
    for _ in range(2):
        for label, command in commands:
            if not pathlib.Path(command[0]).exists():
                print(f"| {label} | not measured: {command[0]} is not there |")
                continue
            out = subprocess.run(command, capture_output=True, text=True, check=False, env={**bench.ENVIRONMENT, "TRACSO_BENCH_PID": str(pid)}).stdout
            print(f"| {label} | " + next((line[6:] for line in out.splitlines() if line.startswith("look: ")), "failed") + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--aim", type=float, default=40)
    parser.add_argument("--pid", type=int)
    parser.add_argument("--psutil", metavar="PYTHON")
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        child = bench.start_python(bench.loads_all(folder, bench.chain_of_libraries(folder, 300)))
        try:
            label = f"{bench.libraries_of(child.pid)} libraries, generated"
            targets = [(label, child.pid)] + ([(f"{bench.libraries_of(options.pid)} libraries, pid {options.pid}", options.pid)] if options.pid else [])
            print(f"Load: {os.getloadavg()[0]:.1f}")
            median = reports(tracso, targets, options.rounds)[label]
            looks(tracso, child.pid, options.psutil)
        finally:
            child.kill()
            child.wait()
    if median > options.aim:
        print(f"\nThe aim is missed: {median:.1f} ms, not {options.aim:.0f}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
