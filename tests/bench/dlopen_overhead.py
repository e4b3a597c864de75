#!/usr/bin/env python3
"""Measures what `tracso --run` costs one dlopen. Prints the table of docs/performance.md.

Usage: dlopen_overhead.py TRACSO [--python PYTHON] [--rounds N] [--pause MICROSECONDS]

The last of ten modules that import each other opens the interpreter's own extension modules, one by one, and times each by its
own clock; between two it is busy for a while, so that a tracer has gone to sleep. In turns: alone, under tracso, and (x86-64, glibc) under the bare tracers of run_overhead.py.
A figure is the mean over the libraries of what the fastest of the rounds took more than the fastest alone: whatever else the machine does
can only add to a time.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

from run_overhead import ENVIRONMENT, bare_tracers

DEPTH = 10
OPENER = """
import _ctypes, sys, time
times = []
for file in sys.argv[3:]:
    end = time.perf_counter_ns() + int(sys.argv[2]) * 1000
    while time.perf_counter_ns() < end:
        pass
    begin = time.perf_counter_ns()
    _ctypes.dlopen(file, 2)
    times.append(time.perf_counter_ns() - begin)
open(sys.argv[1], 'w').write(' '.join(map(str, times)))
"""
FIND = """
import _ctypes, glob, os, sysconfig
for file in sorted(glob.glob(os.path.join(sysconfig.get_config_var('DESTSHARED'), '*.so'))):
    try:
        _ctypes.dlopen(file, 2)
        print(file)
    except OSError:
        pass
"""


def times_of(command, says):
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, check=True)
    return [int(word) for word in says.read_text().split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--pause", type=int, default=300)
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    files = subprocess.run([options.python, "-c", FIND], capture_output=True, text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        says = pathlib.Path(folder) / "says"
        for number in range(DEPTH):
            last = number == DEPTH - 1
            (pathlib.Path(folder) / f"deep{number}.py").write_text(OPENER if last else f"import deep{number + 1}\n")
        program = f"import sys; sys.path.insert(0, {folder!r}); import deep0"
        command = [options.python, "-c", program, str(says), str(options.pause), *files]
        tracers = {"alone": [], "tracso --run": [tracso, "--run"]}
        for name, tracer in zip(("bare stops, twice", "bare stops, once"), bare_tracers(folder, options.python)):
            tracers[name] = tracer
        times = {name: [] for name in tracers}
        for _ in range(options.rounds):
            for name, tracer in tracers.items():
                times[name].append(times_of([*tracer, *command], says))
    fastest = {name: [min(rounds) for rounds in zip(*runs)] for name, runs in times.items()}
    print(f"{len(files)} libraries, {options.rounds} rounds; one dlopen alone: {statistics.mean(fastest['alone']) / 1000:.0f} us.\n")
    print("| | us more for each dlopen |\n|---|---|")
    for name in list(tracers)[1:]:
        print(f"| {name} | {statistics.mean(fastest[name]) / 1000 - statistics.mean(fastest['alone']) / 1000:.0f} |")


if __name__ == "__main__":
    sys.exit(main())
