"""A Python process in one of the states that a debugger may find it in.

usage: python_gdb_target.py STATE
Prints "ready", then answers every line on its stdin with "alive" as soon as its state lets it.
"""
import ctypes
import random
import select
import sys
import threading
import time


def answer_if_asked():
    if select.select([sys.stdin], [], [], 0)[0]:
        sys.stdin.readline()
        print("alive", flush=True)


def allocate(steps=None):
    blocks = [b""] * 50
    while steps is None or steps > 0:
        blocks[random.randrange(50)] = bytes(random.randrange(1000, 70000))
        steps = None if steps is None else steps - 1


def spin():
    count = 0
    while True:
        count += 1


def start(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def hold_lock_in_c(seconds):
    ctypes.PyDLL(None).sleep(seconds)  # PyDLL: the lock of the interpreter stays held


def main():
    state = sys.argv[1]
    print("ready", flush=True)
    if state == "allocating-with-threads":
        for _ in range(2):
            start(allocate)
    elif state == "joining-busy-thread":
        start(spin).join(3600)
    elif state == "among-idle-threads":
        for _ in range(20):
            start(time.sleep, 3600)
    elif state == "holding-lock-in-c":
        hold_lock_in_c(6)
    elif state == "beside-holder-in-c":
        start(hold_lock_in_c, 6)
    while True:
        if state.startswith("allocating"):
            allocate(200)
            answer_if_asked()
        else:
            sys.stdin.readline()
            print("alive", flush=True)


if __name__ == "__main__":
    main()
