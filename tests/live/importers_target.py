"""Makes an installed package with an extension module, imports it, and says who really imported what.

usage: importers_target.py FOLDER
The package `made` 1.2 has a copy of an extension module of this Python.
Rows are EXTENSION IMPORTER LINE FILE; the first is made's own; then "end", and the script sleeps until its stdin closes.
"""
import importlib.util
import os
import shutil
import sys

folder = sys.argv[1]
site = folder + "/site-packages"
seen = []


def watch(event, arguments):
    if event == "import" and arguments[1] is not None:  # a file is loaded
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame:
            seen.append((arguments[0], frame.f_globals.get("__name__"), frame.f_lineno, frame.f_code.co_filename))


def an_extension():
    for name in ("_queue", "_json", "_bz2", "_opcode", "_lsprof", "_ctypes_test", "_testcapi", "_ssl"):
        try:
            spec = importlib.util.find_spec(name)
        except ImportError:
            continue
        if spec and spec.origin and spec.origin.endswith(".so") and name not in sys.modules:
            return name, spec.origin
    sys.exit("no extension module to copy")


name, path = an_extension()
suffix = os.path.basename(path).partition(".")[2]
os.makedirs(site + "/made/inner")
shutil.copy(path, f"{site}/made/inner/{name}.{suffix}")
with open(site + "/made/__init__.py", "w") as out:
    out.write(f"# A private remark.\n'''import {name}'''\nfrom . import late, use\n")
with open(site + "/made/inner/__init__.py", "w") as out:
    out.write("")
with open(site + "/made/late.py", "w") as out:
    out.write(f"def never():\n    from made.inner import {name}\n")
with open(site + "/made/use.py", "w") as out:
    out.write(f"import os\n\nfrom .inner import (\n    # a remark\n    {name},\n)\n")
installed = site + "/made-1.2.dist-info"
os.makedirs(installed)
with open(installed + "/METADATA", "w") as out:
    out.write("Metadata-Version: 2.1\nName: made\nVersion: 1.2\n\nVersion: of nothing\n")
with open(installed + "/RECORD", "w") as out:
    out.write(f"made/__init__.py,,\nmade/inner/{name}.{suffix},,\n")
sys.path.insert(0, site)
sys.addaudithook(watch)
import made  # noqa: E402
import ssl  # noqa: E402,F401

seen.sort(key=lambda row: not row[0].startswith("made."))
for row in seen:
    if row[0] in sys.modules:
        print(*row)
print("end", flush=True)
sys.stdin.read()
