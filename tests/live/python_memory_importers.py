"""Imports modules and prints who really imported each extension module among them.

usage: python_memory_importers.py MODULE...
A row is EXTENSION IMPORTER LINE; then "end", and the script sleeps until its stdin closes.
"""
import sys

seen = []


def watch(event, arguments):
    if event == "import" and arguments[1] is not None:  # a file is loaded
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame:
            seen.append((arguments[0], frame.f_globals.get("__name__"), frame.f_lineno))


sys.addaudithook(watch)
for name in sys.argv[1:]:
    try:
        __import__(name)
    except ImportError:
        pass  # not built into this one
for extension, importer, line in seen:
    if extension in sys.modules:
        print(extension, importer, line)
print("end", flush=True)
sys.stdin.read()
