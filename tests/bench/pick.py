#!/usr/bin/env python3
"""Measures the picker among many processes, on a terminal of its own.

    python3 tests/bench/pick.py TRACSO [--processes 5000] [--keys 20]

How long until the first list stands, and from a key to the new picture: while the Pythons among the processes are
still being looked for, and five seconds later. Every wait has a limit, and one that is reached is an error.
"""
import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import termios
import time


def crowd(count):
    return [os.posix_spawn("/bin/sleep", ["sleep", "1000"], {}) for _ in range(count)]


class Picker:
    def __init__(self, tracso):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(tracso, [tracso, "--pick"], {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))

    def wait(self, limit, until):
        """Reads until the text has come. Seconds."""
        start = time.monotonic()
        seen = b""
        while time.monotonic() - start < limit:
            if select.select([self.terminal], [], [], 0.3)[0]:
                seen += os.read(self.terminal, 65536)
                if until in seen:
                    return time.monotonic() - start
        sys.exit(f"no {until!r} came within {limit} s: {seen[-200:]!r}")

    def settle(self):
        """Typed faster, two keys that undo each other would change nothing on the screen."""
        time.sleep(0.1)
        while select.select([self.terminal], [], [], 0)[0]:
            os.read(self.terminal, 65536)

    def key(self, text):
        self.settle()
        os.write(self.terminal, text)
        start = time.monotonic()
        if not select.select([self.terminal], [], [], 5)[0]:
            sys.exit("a key changed nothing within 5 s")
        took = time.monotonic() - start
        return took

    def keys(self, count):
        times = [self.key(b"s" if i % 2 == 0 else b"\x7f") for i in range(count)]
        return f"median {statistics.median(times) * 1e3:.1f} ms, slowest {max(times) * 1e3:.1f} ms"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tracso")
    options.add_argument("--processes", type=int, default=5000)
    options.add_argument("--keys", type=int, default=20)
    chosen = options.parse_args()
    sleepers = crowd(chosen.processes)
    try:
        time.sleep(1)
        picker = Picker(chosen.tracso)
        first = picker.wait(20, b"RSS")
        at_once = picker.keys(chosen.keys)
        time.sleep(5)
        later = picker.keys(chosen.keys)
        os.write(picker.terminal, b"\x1b")
        os.waitpid(picker.pid, 0)
        print(f"{chosen.processes} processes: first list after {first * 1e3:.0f} ms")
        print(f"a key at once: {at_once}")
        print(f"a key five seconds later: {later}")
    finally:
        for pid in sleepers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


main()
