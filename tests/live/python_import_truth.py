"""Imports the modules named by its arguments, and before every library that Python loads for them
prints the imports under way, as the interpreter itself knows them: its frames, their lines, their
variables. The form is that of in_words (tests/support/python_loads.hpp)."""
import importlib
import os
import sys


def is_importlib(frame):
    code = frame.f_code
    if code.co_filename.startswith("<frozen importlib._bootstrap"):
        return True
    return code.co_name != "<module>" and code.co_filename.endswith("/importlib/__init__.py")


def is_ctypes(frame):
    return frame.f_code.co_name != "<module>" and frame.f_code.co_filename.endswith("/ctypes/__init__.py")


def levels(frame):
    """[(module being imported, frames that run for it)], outermost first; the first has no module."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    found = [("", [])]
    for frame in reversed(frames):
        if frame.f_code.co_name == "_find_and_load" and is_importlib(frame):
            found.append((frame.f_locals["name"], []))
        else:
            found[-1][1].append(frame)
    return found


def words(asker, around, module):
    if asker is None:
        return ":0 (%s) %s" % (around, module)
    importer = asker.f_globals.get("__name__") or around
    return "%s:%d (%s) %s" % (asker.f_code.co_filename, asker.f_lineno, importer, module)


def last_code(frames):
    return next((frame for frame in reversed(frames) if not is_importlib(frame)), None)


def chain(frame):
    steps = []
    found = levels(frame)
    for (around, before), (module, _) in zip(found, found[1:]):
        asker = last_code(before)
        loading = any(frame.f_code.co_name == "_load_unlocked" for frame in before)
        if asker is None and around and not loading:
            steps[-1] = steps[-1].rsplit(" ", 1)[0] + " " + module  # the package of `around`
        else:
            steps.append(words(asker, around, module))
    around, frames = found[-1]
    last = last_code([frame for frame in frames if not is_ctypes(frame)])
    if last is not None:
        steps.append(words(last, around, "load"))
    elif any(f.f_code.co_name == "exec_module" for f in frames):
        steps.append(words(None, around, "load"))
    return " > ".join(steps)


def hook(event, arguments):
    if event == "ctypes.dlopen" or event == "import" and arguments[1] is not None:
        os.write(1, (chain(sys._getframe(1)) + "\n").encode())


sys.addaudithook(hook)
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
