#!/usr/bin/env python3
"""Measures what `tracso --run` costs the command that it runs. Prints the table of docs/performance.md.

Usage: run_overhead.py TRACSO [--python PYTHON] [--pairs N] [--json FILE]

Pairs: the command alone and under tracso, in turns, the order changing from pair to pair, so that whatever else the machine does hits both
alike. A figure is the median over the pairs of the ratio (or difference) within a pair; the quartiles stand beside it. Nothing is measured
by tracso: the command says itself what the clock was when it began and how long its import took. So three things are kept apart:

  start   from the moment before the fork to the command's first own line
  import  the import itself, by the command's own clock
  whole   the wall time until everything has ended, with the look and the report
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {**os.environ, "TRACSO_NO_STATE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
SAYS = "import sys, time; a = time.monotonic_ns(); {code}; b = time.monotonic_ns(); open(sys.argv[1], 'w').write(f'{{a}} {{b}}')"
C_PROGRAM = """
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
  if (!file) return 1;
  long long ns = now.tv_sec * 1000000000LL + now.tv_nsec;
  fprintf(file, "%lld %lld", ns, ns);
  return fclose(file);
}
"""


def once(command, says):
    began = time.monotonic_ns()
    done = subprocess.run([*command, str(says)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    ended = time.monotonic_ns()
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}")
    first, last = map(int, says.read_text().split())
    return {"start": first - began, "import": last - first, "whole": ended - began}


def pairs_of(command, tracso, count, says):
    alone_first = True
    pairs = []
    for number in range(count + 1):
        order = [command, [tracso, "--run", *command]]
        runs = [once(c, says) for c in (order if alone_first else order[::-1])]
        if number > 0:  # the first one only warms up
            pairs.append(runs if alone_first else runs[::-1])
        alone_first = not alone_first
    return pairs


def spread(values):
    quarters = statistics.quantiles(values, n=4)
    return {"median": statistics.median(values), "low": quarters[0], "high": quarters[2]}


def summary(name, pairs):
    ratios = spread([b["import"] / a["import"] for a, b in pairs]) if pairs[0][0]["import"] > 0 else None
    return {
        "command": name,
        "pairs": len(pairs),
        "alone_ms": statistics.median(a["import"] for a, _ in pairs) / 1e6,
        "import_ratio": ratios,
        "start_ms": spread([(b["start"] - a["start"]) / 1e6 for a, b in pairs]),
        "whole_ms": spread([(b["whole"] - a["whole"]) / 1e6 for a, b in pairs]),
    }


def text(values, form):
    return "-" if values is None else f"{values['median']:{form}} ({values['low']:{form}} to {values['high']:{form}})"


def can_import(python, code):
    return subprocess.run([python, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--json", help="write the figures there")
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        says = pathlib.Path(folder) / "says"
        program = pathlib.Path(folder) / "program"
        (pathlib.Path(folder) / "p.c").write_text(C_PROGRAM)
        subprocess.run(["cc", "-O1", "-o", str(program), folder + "/p.c"], check=True)
        commands = [("a C program that ends at once", [str(program)])]
        for code in ("pass", "import ssl, sqlite3, ctypes, decimal", "import numpy", "import pandas", "import scipy.stats, sklearn.linear_model"):
            if can_import(options.python, code):
                commands.append((f"python3 -c '{code}'", [options.python, "-c", SAYS.format(code=code)]))
            else:
                print(f"left out: {code}", file=sys.stderr)
        for name, command in commands:
            rows.append(summary(name, pairs_of(command, tracso, options.pairs, says)))
    print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.pairs} pairs; median (quartiles).\n")
    print("| command | import alone, ms | import, ratio | start, ms more | whole, ms more |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| `{row['command']}` | {row['alone_ms']:.1f} | {text(row['import_ratio'], '.3f')} | {text(row['start_ms'], '.1f')} | {text(row['whole_ms'], '.1f')} |")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
