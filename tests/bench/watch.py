#!/usr/bin/env python3
"""Measures how much `tracso watch` slows down the process that it watches.

Usage: watch.py TRACSO [--pairs N] [--seconds S] [--intervals 1,0.1,0.01] [--libraries]

A program that maps, touches and unmaps memory as fast as it can (the worst case: whoever reads smaps takes the lock that it needs) counts
its rounds in processor time and in wall time. In turns it is watched and left alone, pair by pair, in changing order. A figure is the
median over the pairs of the ratio within a pair; the quartiles stand beside it. Both programs may run on all processors.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ENVIRONMENT = {**os.environ, "TRACSO_NO_STATE": "1"}
SUBJECT = """
import mmap, sys, time
if sys.argv[1] == 'many': import ssl, sqlite3, ctypes, decimal, lzma, bz2
print('ready', flush=True)
for line in sys.stdin:
    end = time.monotonic() + float(line); rounds = 0; cpu = time.process_time()
    while time.monotonic() < end:
        for _ in range(50):
            m = mmap.mmap(-1, 1 << 16); m[0] = 1; m[1 << 15] = 1; m.close()
        rounds += 50
    print(rounds, time.process_time() - cpu, flush=True)
"""


def rounds(subject, seconds):
    subject.stdin.write(f"{seconds}\n")
    subject.stdin.flush()
    count, cpu = subject.stdout.readline().split()
    return float(count), float(count) / float(cpu)


def watched(subject, seconds, tracso, interval):
    watcher = subprocess.Popen([tracso, "watch", str(subject.pid), "--interval", str(interval)], stdout=subprocess.PIPE, env=ENVIRONMENT)
    watcher.stdout.readline()  # it is at work
    drain = subprocess.Popen(["cat"], stdin=watcher.stdout, stdout=subprocess.DEVNULL)
    began = os.times()
    figures = rounds(subject, seconds)
    watcher.terminate()
    watcher.wait()
    drain.wait()
    ended = os.times()
    return figures, (ended.children_user + ended.children_system - began.children_user - began.children_system) / seconds


def text(values):
    low, _, high = statistics.quantiles(values, n=4)
    return f"{statistics.median(values):.3f} ({low:.3f} to {high:.3f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--intervals", default="1,0.1,0.01", help="of watch, seconds")
    parser.add_argument("--libraries", action="store_true", help="a subject with more libraries")
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.pairs} pairs of {options.seconds} s\n")
    print("| interval | rounds, watched to alone | rounds per processor second | processors taken by watch |\n|---|---|---|---|")
    for interval in map(float, options.intervals.split(",")):
        subject = subprocess.Popen([sys.executable, "-c", SUBJECT, "many" if options.libraries else "few"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        subject.stdout.readline()
        rounds(subject, 0.5)  # warms up
        wall, cpu, own = [], [], []
        for pair in range(options.pairs):
            if pair % 2 == 0:
                alone = rounds(subject, options.seconds)
            seen, taken = watched(subject, options.seconds, tracso, interval)
            if pair % 2 == 1:
                alone = rounds(subject, options.seconds)
            wall.append(seen[0] / alone[0])
            cpu.append(seen[1] / alone[1])
            own.append(taken)
        subject.stdin.close()
        subject.wait()
        print(f"| {interval} s | {text(wall)} | {text(cpu)} | {statistics.median(own):.3f} |", flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
