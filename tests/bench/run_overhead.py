#!/usr/bin/env python3
"""Measures what `tracso --run` costs the command that it runs. Prints the table of docs/performance.md.

Usage: run_overhead.py TRACSO [--python PYTHON] [--pairs N] [--json FILE]

Rounds: the command alone, under tracso, and (x86-64, glibc) under two bare tracers that do nothing but let it stop at loads: at both calls
of the loader's hook for a dlopen, and at the second only, as tracso does with its gate (twice without; the gate here notes no time). In turns, the order changing from round to round, so that whatever else the machine does hits all
alike; on a busy machine run it as "chrt -f 10". A figure is the median over the rounds of the ratio (or difference) within a round, with quartiles. Nothing is measured
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
import struct
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

# Traces from the start, one breakpoint where the loader tells of its list, whose return is done in its place: argv is HOOK GATE STATE COMMAND...,
# offsets into the loader. GATE: room for code that the hook leads to, which returns while the int at STATE is RT_ADD, else comes to the
# breakpoint; 0: it stands at the hook. With SAY_STOPS it tells how many stops there were.
BARE = r"""
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long stop;
static void put(pid_t pid, unsigned long at, const unsigned char *code, int size) {
  for (int i = 0; i < size; ++i) {
    const unsigned long word = (at + i) & ~7UL, shift = (at + i) % 8 * 8;
    const unsigned long old = ptrace(PTRACE_PEEKTEXT, pid, word, 0);
    ptrace(PTRACE_POKETEXT, pid, word, (old & ~(255UL << shift)) | (unsigned long)code[i] << shift);
  }
}
static void insert(pid_t pid, unsigned long hook, unsigned long gate, unsigned long state) {
  char name[64];
  unsigned long words[128] = {0};
  snprintf(name, sizeof name, "/proc/%d/auxv", pid);
  int file = open(name, O_RDONLY);
  ssize_t size = read(file, words, sizeof words);
  close(file);
  unsigned long base = 0;
  for (ssize_t i = 0; i + 1 < size / 8; i += 2) if (words[i] == AT_BASE) base = words[i + 1];
  stop = base + hook;
  if (gate != 0) {
    /* cmpl $1, STATE; jne to the breakpoint; ret; and at the hook: jmp GATE */
    unsigned char code[] = {0x83, 0x3d, 0, 0, 0, 0, 1, 0x75, 1, 0xc3}, entry[] = {0xe9, 0, 0, 0, 0};
    const int to_state = state - (gate + 7), to_gate = gate - (hook + 5);
    memcpy(code + 2, &to_state, 4);
    memcpy(entry + 1, &to_gate, 4);
    put(pid, base + gate, code, sizeof code);
    put(pid, base + hook, entry, sizeof entry);
    stop = base + gate + sizeof code;
  }
  put(pid, stop, (const unsigned char[]){0xcc}, 1);
}
static int stops;
static int returns(pid_t thread) {
  struct user_regs_struct registers;
  struct iovec room = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &room);
  ++stops;
  if (stop == 0 || registers.rip != stop + 1) return 0;
  registers.rip = ptrace(PTRACE_PEEKTEXT, thread, registers.rsp, 0);
  registers.rsp += 8;
  ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &room);
  return 1;
}
int main(int argc, char **argv) {
  int go[2], status;
  char letter = 0;
  if (argc < 5 || pipe(go) != 0) return 1;
  pid_t command = fork(), thread;
  if (command == 0) {
    close(go[1]);
    if (read(go[0], &letter, 1) == 1) execvp(argv[4], argv + 4);
    _exit(127);
  }
  ptrace(PTRACE_SEIZE, command, 0, PTRACE_O_TRACEEXEC);
  if (write(go[1], &letter, 1) != 1) return 1;
  while ((thread = waitpid(-1, &status, __WALL)) > 0) {
    if (WIFEXITED(status) && thread == command) {
      if (getenv("SAY_STOPS")) fprintf(stderr, "%d stops\n", stops);
      return WEXITSTATUS(status);
    }
    if (!WIFSTOPPED(status)) continue;
    int number = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    if (status >> 16 == PTRACE_EVENT_EXEC) insert(thread, strtoul(argv[1], NULL, 16), strtoul(argv[2], NULL, 16), strtoul(argv[3], NULL, 16));
    if (number == SIGTRAP && returns(thread)) number = 0;
    ptrace(PTRACE_CONT, thread, 0, number);
  }
  return 1;
}
"""


def room_behind_code(loader):
    """Address in that file, where a gate has room in the last page of its code; 0: nowhere."""
    data = pathlib.Path(loader).read_bytes()
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]
    end = next(header[3] + header[5] for header in headers if header[0] == 1 and header[1] & 1)
    room = -(-end // 16) * 16
    return room if room + 16 <= -(-end // 4096) * 4096 else 0


def bare_tracers(folder, python):
    """The starts of the command lines of those that stop twice and once for a dlopen; none: not on this machine."""
    headers = subprocess.run(["readelf", "-lW", os.path.realpath(python)], capture_output=True, text=True, check=False).stdout
    loader = headers.split("interpreter: ")[1].split("]")[0] if "interpreter: " in headers else ""
    names = subprocess.run(["readelf", "-W", "--dyn-syms", loader], capture_output=True, text=True, check=False).stdout if loader else ""
    places = {line.split()[7].split("@")[0]: line.split()[1] for line in names.splitlines() if "_dl_debug_state" in line or "_r_debug" in line}
    if os.uname().machine != "x86_64" or len(places) != 2:
        return []
    (pathlib.Path(folder) / "bare.c").write_text(BARE)
    subprocess.run(["cc", "-O2", "-o", folder + "/bare", folder + "/bare.c"], check=True)
    hook, gate = places["_dl_debug_state"], room_behind_code(loader)
    state = f"{int(places['_r_debug'], 16) + 24:x}"  # r_state
    return [[folder + "/bare", hook, "0", "0"], *([[folder + "/bare", hook, f"{gate:x}", state]] if gate else [])]


def once(command, says):
    began = time.monotonic_ns()
    done = subprocess.run([*command, str(says)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    ended = time.monotonic_ns()
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}")
    first, last = map(int, says.read_text().split())
    return {"start": first - began, "import": last - first, "whole": ended - began}


def rounds_of(command, tracers, count, says):
    """[[alone, under the first tracer, ...], ...]"""
    commands = [command, *([*tracer, *command] for tracer in tracers)]
    rounds = []
    for number in range(count + 1):
        first = number % len(commands)
        runs = {i: once(commands[i], says) for i in [*range(first, len(commands)), *range(first)]}
        if number > 0:  # the first one only warms up
            rounds.append([runs[i] for i in range(len(commands))])
    return rounds


def spread(values):
    quarters = statistics.quantiles(values, n=4)
    return {"median": statistics.median(values), "low": quarters[0], "high": quarters[2]}


def ratio_of_import(rounds, which):
    imports = statistics.median(runs[0]["import"] for runs in rounds) > 100_000 and len(rounds[0]) > which
    return spread([runs[which]["import"] / runs[0]["import"] for runs in rounds]) if imports else None


def summary(name, rounds):
    return {
        "command": name,
        "pairs": len(rounds),
        "alone_ms": statistics.median(runs[0]["import"] for runs in rounds) / 1e6,
        "import_ratio": ratio_of_import(rounds, 1),
        "bare_ratio": ratio_of_import(rounds, 2),
        "bare_once_ratio": ratio_of_import(rounds, 3),
        "start_ms": spread([(runs[1]["start"] - runs[0]["start"]) / 1e6 for runs in rounds]),
        "whole_ms": spread([(runs[1]["whole"] - runs[0]["whole"]) / 1e6 for runs in rounds]),
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
        tracers = [[tracso, "--run"], *bare_tracers(folder, options.python)]
        for name, command in commands:
            rows.append(summary(name, rounds_of(command, tracers, options.pairs, says)))
    print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.pairs} rounds; median (quartiles).\n")
    print("| command | import alone, ms | import, ratio | bare stops, once, ratio | bare stops, twice, ratio | start, ms more | whole, ms more |\n|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| `{row['command']}` | {row['alone_ms']:.1f} | {text(row['import_ratio'], '.3f')} | {text(row['bare_once_ratio'], '.3f')} | {text(row['bare_ratio'], '.3f')} | {text(row['start_ms'], '.1f')} | {text(row['whole_ms'], '.1f')} |")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
