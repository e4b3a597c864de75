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
import resource
import shutil
import subprocess
import sys
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

# What the loader's own interface takes for counting: rtld-audit(7). It sees no call of -fno-plt.
AUDIT = """
#define _GNU_SOURCE
#include <link.h>
static unsigned long calls;
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) { return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *by, uintptr_t *of, La_x86_64_regs *registers,
                                  unsigned *flags, const char *name, long *frame) { ++calls; return symbol->st_value; }
"""


def build(folder, options):
    for name, text in (("library.c", LIBRARY), ("program.c", PROGRAM), ("audit.c", AUDIT)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    for name, into in (("library.c", "libadd.so"), ("audit.c", "audit.so")):
        subprocess.run(["gcc", "-O2", "-fPIC", "-shared", name, "-o", into], cwd=folder, check=True)
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
    yield "LD_AUDIT", ["env", "LD_AUDIT=" + os.path.join(folder, "audit.so")], 100_000
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
    command = [sys.executable, "-c", "import ssl, json"]  # not by name: that may be a script that starts the real one
    ways = {"native": command,
            "tracso -c": [arguments.tracso, "calls", "-c", "-o", os.devnull, *command],
            "tracso, lines": [arguments.tracso, "calls", "-o", os.devnull, *command],
            "tracso --exact": [arguments.tracso, "calls", "-o", os.devnull, "--exact", *command]}
    times = {name: [] for name in ways}
    for _ in range(arguments.rounds * 3):
        for name, words in ways.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(words, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    for name in ways:
        print(f"  {name:16} {min(times[name]) * 1000:8.1f} ms of the processor")


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
    print(f"{sys.executable} -c 'import ssl, json'")
    imports(arguments)


if __name__ == "__main__":
    main()
