#!/usr/bin/env python3
"""Compares the memory probe with the gdb probe on each Python and prints the table of docs/performance.md.

Usage: probes.py TRACSO PYTHON [PYTHON ...] [--rounds N]

Wall time is of the whole of `tracso --probe P PID`, the median of N runs taken in turns; `stood still` is what the document of another run
says (intrusion.stopped_ns), the median again. The second table is of a process with 20,000 more modules.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

USUAL = "import ssl, sqlite3, json, decimal, ctypes, asyncio"
MANY = USUAL + "\nimport sys, types\nfor i in range(20000):\n    name = f'made.m{i}'\n    sys.modules[name] = types.ModuleType(name)"
PROBES = ("memory", "gdb", "path")


def start(python, code):
    child = subprocess.Popen([python, "-c", code + "\nprint(len(sys.modules) if 'sys' in globals() else 0, flush=True)\nimport time; time.sleep(3600)"], stdout=subprocess.PIPE)
    child.stdout.readline()
    return child


def look(tracso, pid, probe):
    """(milliseconds, milliseconds stood still, modules); nothing where the probe is refused."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "TRACSO_NO_STATE": "1"}}
    begin = time.perf_counter()
    subprocess.run([tracso, "--probe", probe, str(pid)], check=False, **quiet)
    wall = (time.perf_counter() - begin) * 1000
    done = subprocess.run([tracso, "--json", "--probe", probe, str(pid)], check=False, **{**quiet, "stdout": subprocess.PIPE})
    if done.returncode != 0:
        return None
    document = json.loads(done.stdout)
    python = document["process"]["python"]
    return wall, document["intrusion"]["stopped_ns"] / 1e6, python["modules"] if python and python["probe"] == probe else 0


def measure(tracso, python, code, rounds):
    child = start(python, code)
    try:
        seen = {probe: [] for probe in PROBES}
        for _ in range(rounds):
            for probe in PROBES:
                if (one := look(tracso, child.pid, probe)) is not None:
                    seen[probe].append(one)
        return seen
    finally:
        child.kill()
        child.wait()


def cells(runs):
    if not runs or runs[0][2] == 0:
        return "- | -"
    return f"{statistics.median(run[0] for run in runs):.1f} | {statistics.median(run[1] for run in runs):.1f}"


def table(title, tracso, pythons, code, rounds):
    print(f"\n### {title}\n\n| Python | modules | memory: wall ms | stood still ms | gdb: wall ms | stood still ms | path: wall ms |\n|---|---|---|---|---|---|---|")
    for python in pythons:
        version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        seen = measure(tracso, python, code, rounds)
        modules = seen["memory"][0][2] if seen["memory"] else 0
        print(f"| {version} | {modules} | {cells(seen['memory'])} | {cells(seen['gdb'])} | {cells(seen['path']).split(' ')[0]} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("pythons", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    table("Each Python, " + USUAL.removeprefix("import "), tracso, options.pythons, USUAL, options.rounds)
    table("The same with 20,000 more modules", tracso, options.pythons, MANY, max(3, options.rounds // 2))


if __name__ == "__main__":
    main()
