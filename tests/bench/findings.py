#!/usr/bin/env python3
"""Measures the questions about symbols and about the host, and whether they grow no faster than what is asked about.

Usage: findings.py TRACSO [--rounds N] [--all]

Aims (of a build with -O2): all findings of 300 libraries < 250 ms, --bindings of 300 libraries < 200 ms, --who over 300 processes < 3 s.
Exit status 1: an aim is missed, or ten times as much costs more than fifteen times as long (less the time of the start).
A debug build is some times slower: its figures say nothing of the aims, only of the growth.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from bench import chain_of_libraries, loads_all, once, start_python  # noqa: E402

AIMS = {("--findings", 300): 250, ("--bindings", 300): 200, ("--who", 300): 3000}


def median_of(command, rounds):
    return statistics.median(once(command)[0] for _ in range(rounds))


def by_libraries(tracso, counts, rounds):
    """Milliseconds of each question by the number of libraries of the process."""
    times = {}
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            child = start_python(loads_all(folder, chain_of_libraries(folder, count)))
            try:
                for question in ("--findings", "--bindings", "--unused"):
                    times[question, count] = median_of([tracso, question, str(child.pid)], rounds)
            finally:
                child.kill()
                child.wait()
    return times


def by_processes(tracso, counts, rounds):
    """Milliseconds of --who by the number of processes that have the library beside those of the host."""
    times = {}
    children = []
    try:
        for count in counts:
            while len(children) < count:
                children.append(subprocess.Popen(["/bin/sleep", "3600"]))
            times["--who", count] = median_of([tracso, "--who", "libc.so.6"], rounds)
    finally:
        for child in children:
            child.kill()
            child.wait()
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--all", action="store_true", help="also 1000 and 3000 of each (minutes)")
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    counts = (30, 100, 300) + ((1000, 3000) if options.all else ())
    start = median_of([tracso, "--version"], options.rounds)
    times = by_libraries(tracso, counts, options.rounds) | by_processes(tracso, counts, options.rounds)
    failed = []
    print("| question | number | median ms | aim |\n|---|---|---|---|")
    for (question, count), milliseconds in sorted(times.items()):
        aim = AIMS.get((question, count))
        print(f"| {question} | {count} | {milliseconds:.1f} | {aim or ''} |")
        if aim and milliseconds > aim:
            failed.append(f"{question} of {count}: {milliseconds:.0f} ms, aim {aim}")
        base = times.get((question, count // 10))
        if base and milliseconds - start > 15 * (base - start):
            failed.append(f"{question}: {count} take {milliseconds / base:.1f} times as long as {count // 10}")
    for line in failed:
        print("missed: " + line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
