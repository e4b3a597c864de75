#!/usr/bin/env python3
"""How many importers that tracso infers are the true ones? Prints the table of docs/python-probes.md.

Usage: importers.py TRACSO PYTHON [PYTHON ...] [-v]

Each program runs under each PYTHON with an audit hook that writes down which Python line was running when an extension module was
loaded, is held when it is about to end, and is then looked at by `tracso --json PID`. Programs whose packages are not installed are
left out and named. The last columns tell what else could have been asked: in which modules an extension without an answer (or its
functions, its classes) stands as an attribute, the one begun last before it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HOOK = r'''
import atexit, os, sys
truth, held, me = os.environ.pop("TRACSO_TRUTH", None), int(os.environ.pop("TRACSO_HELD", "0")), os.getpid()
seen = []

def watch(event, arguments):
    if event == "import" and arguments[1] is not None:
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame:
            seen.append((arguments[0], frame.f_globals.get("__name__"), frame.f_lineno))

def holders(extension):
    """Modules that have the extension or something of it as an attribute."""
    found = []
    for name, module in list(sys.modules.items()):
        if name == extension or name == extension.rpartition(".")[0] or name in ("sitecustomize", "__mp_main__"):
            continue
        for value in list(getattr(module, "__dict__", {}).values()):
            if value is sys.modules[extension] or (isinstance(value, (type, type(len))) and getattr(value, "__module__", None) == extension):
                found.append(name)
                break
    return found

def hold():
    if os.getpid() != me or hasattr(sys, "last_type"):
        return
    order = list(sys.modules)
    rows = [(name, importer, line, holders(name)) for name, importer, line in seen if name in sys.modules]
    import json
    with open(truth, "w") as out:
        json.dump({"rows": rows, "order": order}, out)
    os.read(held, 1)

if truth:
    sys.addaudithook(watch)
    atexit.register(hold)
'''

PROGRAMS = {
    "pip list": ["-m", "pip", "list", "--disable-pip-version-check"],
    "pydoc ssl": ["-m", "pydoc", "ssl"],
    "venv": ["-m", "venv", "--without-pip", "made"],
    "unittest": ["-m", "unittest", "--help"],
    "zip, tar, sqlite": ["-c", "import zipfile, tarfile, sqlite3, csv\ntarfile.open('x.tar.xz', 'w:xz').close()\nsqlite3.connect(':memory:').execute('select 1')"],
    "asyncio with TLS": ["-c", "import asyncio, ssl\nasync def main():\n    ssl.create_default_context()\n    await asyncio.to_thread(len, 'x')\nasyncio.run(main())"],
    "a pool of processes": ["-c", "import multiprocessing\nif __name__ == '__main__':\n    with multiprocessing.get_context('fork').Pool(2) as pool:\n        pool.map(abs, [1, -2])"],
    "numpy": ["-c", "import numpy\nnumpy.linalg.svd(numpy.random.rand(9, 9)); numpy.fft.fft([1, 2])"],
    "pandas": ["-c", "import io, pandas\npandas.read_csv(io.StringIO('a,b\\n1,2\\n')).groupby('a').sum()"],
    "cryptography": ["-c", "from cryptography.fernet import Fernet\nFernet(Fernet.generate_key()).encrypt(b'x')"],
    "lxml": ["-c", "from lxml import etree, objectify, html\nhtml.fromstring('<p>x')"],
    "pydantic": ["-c", "import pydantic\nclass M(pydantic.BaseModel):\n    x: int\nM(x='1').model_dump_json()"],
    "aiohttp": ["-c", "import aiohttp.web, asyncio\nasync def main():\n    async with aiohttp.ClientSession():\n        pass\nasyncio.run(main())"],
    "Pillow": ["-c", "from PIL import Image, ImageDraw, ImageFont\nimport io\nimage = Image.new('RGB', (9, 9)); ImageDraw.Draw(image).line((0, 0, 5, 5)); image.save(io.BytesIO(), 'png')"],
    "scikit-learn": ["-c", "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit([[0], [1]], [0, 1])"],
}


def document_of(tracso, pid):
    # Asked by name, so that no other probe answers on a busy machine: path sees no sources.
    command = [tracso, "--json", "--probe", "memory", "--timeout", "60", "--name-depth", "0", str(pid)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, "TRACSO_NO_STATE": "1"})
    return json.loads(done.stdout)


def inferred(document):
    found = {}
    for edge in document["edges"]:
        for importer in edge["importers"]:
            found.setdefault(edge["source"].removeprefix("py:"), (importer["module"], importer["line"]))
    modules = {node["name"].removeprefix("py:") for node in document["nodes"] if node["kind"] == "module"}
    return found, modules


def run(tracso, python, arguments, folder):
    """(truth, document), or None: the program failed."""
    (folder / "sitecustomize.py").write_text(HOOK)
    truth = folder / "truth.json"
    truth.unlink(missing_ok=True)
    theirs, ours = os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(folder), "TRACSO_TRUTH": str(truth), "TRACSO_HELD": str(theirs)}
    child = subprocess.Popen([python, *arguments], cwd=folder, env=environment, pass_fds=[theirs], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(theirs)
    try:
        while child.poll() is None:
            try:
                rows = json.loads(truth.read_text())
                return rows, document_of(tracso, child.pid)
            except (FileNotFoundError, ValueError):
                try:
                    child.wait(0.05)
                except subprocess.TimeoutExpired:
                    pass
        return None
    finally:
        os.close(ours)
        child.kill()
        child.wait()


def judge(truth, document, verbose):
    found, modules = inferred(document)
    order = {name: i for i, name in enumerate(truth["order"])}
    count = {"extensions": 0, "named": 0, "module": 0, "line": 0, "nameless": 0, "attributes": 0}
    for extension, importer, line, holders in truth["rows"]:
        if extension not in modules:
            continue
        count["extensions"] += 1
        if extension in found:
            count["named"] += 1
            count["module"] += found[extension][0] == importer
            count["line"] += found[extension] == (importer, line)
            if verbose and found[extension] != (importer, line):
                print(f"  {extension}: inferred {found[extension]}, true {(importer, line)}", file=sys.stderr)
            continue
        before = [name for name in holders if order[name] < order[extension]]
        count["nameless"] += 1
        count["attributes"] += before[-1:] == [importer]
        if verbose:
            print(f"  {extension}: nothing inferred, true {(importer, line)}, attribute of {before}", file=sys.stderr)
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("pythons", nargs="+")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    tracso = str(pathlib.Path(options.tracso).resolve())
    for python in options.pythons:
        version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        print(f"\n### Python {version}\n\n| program | extension modules | named | right module | right line | of all | without an answer | of these by attributes |\n|---|---|---|---|---|---|---|---|")
        total, absent = {}, []
        for name, arguments in PROGRAMS.items():
            with tempfile.TemporaryDirectory() as folder:
                seen = run(tracso, python, arguments, pathlib.Path(folder))
            if seen is None:
                absent.append(name)
                continue
            if options.verbose:
                print(f"{name}:", file=sys.stderr)
            count = judge(*seen, options.verbose)
            total = {key: total.get(key, 0) + value for key, value in count.items()}
            row(name, count)
        row("all", total)
        if absent:
            print(f"\nNot installed: {', '.join(absent)}.")


def row(name, count):
    share = 100 * count["line"] / max(1, count["extensions"])
    print(f"| {name} | {count['extensions']} | {count['named']} | {count['module']} | {count['line']} | {share:.0f} % | {count['nameless']} | {count['attributes']} |", flush=True)


if __name__ == "__main__":
    main()
