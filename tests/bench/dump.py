#!/usr/bin/env python3
"""Measures `tracso dump` of ten Python threads: a look, later looks, how long --native holds a thread; against py-spy.

Usage: dump.py TRACSO [--python PROGRAM] [--rounds N]

Of the program itself: the time it says a look took (took_ns), the first of a run, and of 20 looks in one run the later ones; held_ns of
every thread. Of the commands: wall time from start to end, tracso and py-spy (where it is in PATH) in turns. Fastest and median.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ENVIRONMENT = {**os.environ, "TRACSO_NO_STATE": "1"}
SUBJECT = pathlib.Path(__file__).parent.parent / "live" / "dump_target.py"


def looks(tracso, pid, *options):
    run = subprocess.run([tracso, "dump", "--json", *options, str(pid)], env=ENVIRONMENT, capture_output=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def wall(command):
    start = time.monotonic()
    subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def show(what, seconds):
    print(f"| {what} | {min(seconds) * 1000:.2f} ms | {statistics.median(seconds) * 1000:.2f} ms |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tracso")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=20)
    words = parser.parse_args()
    subject = subprocess.Popen([words.python, SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    subject.stdout.readline()
    first, later, native, held = [], [], [], []
    commands = {"tracso dump": [words.tracso, "dump", str(subject.pid)],
                "tracso dump --native": [words.tracso, "dump", "--native", str(subject.pid)]}
    spy = shutil.which("py-spy")
    if spy:
        commands["py-spy dump"] = [spy, "dump", "--pid", str(subject.pid)]
        commands["py-spy dump --nonblocking"] = [spy, "dump", "--nonblocking", "--pid", str(subject.pid)]
    times = {name: [] for name in commands}
    for _ in range(words.rounds):
        several = looks(words.tracso, subject.pid, "--count", "20", "--interval", "0")
        first.append(several[0]["took_ns"] / 1e9)
        later += [look["took_ns"] / 1e9 for look in several[1:]]
        stacks = looks(words.tracso, subject.pid, "--native", "--count", "2", "--interval", "0")[-1]
        native.append(stacks["took_ns"] / 1e9)
        held += [thread["native"]["held_ns"] / 1e9 for thread in stacks["threads"] if thread["native"]]
        for name, command in commands.items():
            times[name].append(wall(command))
    subject.kill()
    print("| | fastest | median |\n|---|---|---|")
    show("first look", first)
    show("a later look", later)
    show("a later look, native", native)
    show("a thread is held", held)
    for name, seconds in times.items():
        show(name + ", the command", seconds)


main()
