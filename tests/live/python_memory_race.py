"""Threads that make and delete modules as fast as they can.

usage: python_memory_race.py MODULES THREADS
Every module raceN has the file /race/N/fileN.so, so a mixed-up row shows.
"""
import importlib.machinery
import random
import sys
import threading
import time
import types


def made(number):
    module = types.ModuleType("race%d" % number)
    module.__file__ = "/race/%d/file%d.so" % (number, number)
    module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, origin=module.__file__)
    return module


def churn(thread, modules):
    chance = random.Random(thread)
    while True:
        number = chance.randrange(modules) + thread * modules
        name = "race%d" % number
        if name in sys.modules:
            del sys.modules[name]
        else:
            sys.modules[name] = made(number)


for index in range(int(sys.argv[2])):
    threading.Thread(target=churn, args=(index, int(sys.argv[1])), daemon=True).start()
print("ready", flush=True)
time.sleep(3600)
