#!/usr/bin/env python3
"""What a traced call costs: a loop of calls into a library, natively and under each tracer that is here.

    python3 tests/bench/calls.py [--tracso build/tracso] [--rounds 5]

All in one run, in turns, so that the load of the machine meets everybody alike. Printed is the least of the
rounds in nanoseconds per call, and what is added to the native call. Of tracers inside the process it is
processor time of the thread, which a busy machine disturbs little; ltrace stops the thread, so there it is
wall time. Then how much processor time `import ssl, json` takes.
"""
import argparse
import os
import re
import shutil
import subprocess
import tempfile

LIBRARY = "int add_one(int value) { return value + 1; }\n"
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int add_one(int);
static double now(int wall) { struct timespec t; clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int count, char **words) {
  long calls = atol(words[1]);
  volatile int value = 0;
  for (int i = 0; i < 2000; ++i) value = add_one(value);
  int wall = count > 2;
  double start = now(wall);
  for (long i = 0; i < calls; ++i) value = add_one(value);
  fprintf(stderr, "NS %.2f\\n", (now(wall) - start) / calls);
  return count == 0;
}
"""


def build(folder, options):
    for name, text in (("library.c", LIBRARY), ("program.c", PROGRAM)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "library.c", "-o", "libadd.so"], cwd=folder, check=True)
    program = os.path.join(folder, "program")
    subprocess.run(["gcc", "-O2", *options, "program.c", "-o", program, "-L.", "-ladd", "-Wl,-rpath,$ORIGIN"],
                   cwd=folder, check=True)
    return program


def nanoseconds(command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"NS ([0-9.]+)", done.stderr)
    return float(found[1]) if found else None


def tracers(tracso, folder):
    """name, command before the program, calls"""
    out = os.path.join(folder, "out")
    yield "native", [], 1_000_000
    yield "tracso --count", [tracso, "calls", "-o", out, "--count"], 1_000_000
    yield "tracso -c", [tracso, "calls", "-c", "-o", out], 1_000_000
    yield "tracso --exact", [tracso, "calls", "-o", out, "--exact"], 500_000
    # Each call as a line: a short loop fits the ring, a long one waits for the lines to be written (wall time).
    yield "tracso, ring", [tracso, "calls", "-e", "add_one", "-o", out], 1_000
    yield "tracso, lines", [tracso, "calls", "-e", "add_one", "-o", out], 300_000
    if shutil.which("uftrace"):
        yield "uftrace", ["uftrace", "record", "--force", "--no-event", "-d", out + ".uftrace"], 50_000
    if shutil.which("ltrace"):
        yield "ltrace -c", ["ltrace", "-c", "-o", out], 500
        yield "ltrace, lines", ["ltrace", "-e", "add_one", "-o", out], 500


def loop(arguments, options):
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, options)
        rows = list(tracers(arguments.tracso, folder))
        times = {name: [] for name, _, _ in rows}
        for _ in range(arguments.rounds):
            for name, before, calls in rows:
                took = nanoseconds([*before, program, str(calls), *(["wall"] if "ltrace" in name or "lines" in name else [])])
                if took is not None:
                    times[name].append(took)
        native = min(times["native"])
        for name, _, _ in rows:
            if times[name]:
                least = min(times[name])
                print(f"  {name:16} {least:12.1f} ns a call   +{least - native:10.1f}")
            else:
                print(f"  {name:16} gave no time")


def imports(arguments):
    command = ["python3", "-c", "import ssl, json"]
    ways = {"native": command,
            "tracso -c": [arguments.tracso, "calls", "-c", "-o", os.devnull, *command],
            "tracso, lines": [arguments.tracso, "calls", "-o", os.devnull, *command],
            "tracso --exact": [arguments.tracso, "calls", "-o", os.devnull, "--exact", *command]}
    times = {name: [] for name in ways}
    for _ in range(arguments.rounds * 3):
        for name, words in ways.items():
            before = os.times()
            subprocess.run(words, check=True)
            after = os.times()
            times[name].append(after.children_user + after.children_system - before.children_user
                               - before.children_system)
    for name in ways:
        print(f"  {name:16} {min(times[name]) * 1000:8.0f} ms of the processor")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracso", default="build/tracso")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.tracso = os.path.abspath(arguments.tracso)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for name, options in (("PLT", []), ("-fno-plt", ["-fno-plt"])):
        print(f"a call through {name}, least of {arguments.rounds}")
        loop(arguments, options)
    print("python3 -c 'import ssl, json'")
    imports(arguments)


if __name__ == "__main__":
    main()
