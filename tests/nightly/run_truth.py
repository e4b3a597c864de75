#!/usr/bin/env python3
"""What --run tells of big packages, against two judges in the very same run: glibc's LD_DEBUG=files and CPython's -X importtime.

run_truth.py TRACSO [--python PYTHON]... [--packages "P1 P2"] [--code CODE]...

For each PYTHON (default: the one this runs in) a virtual environment with the packages is made in a folder that goes away; where pip finds
no wheel for one, it is left out and named. Each CODE (default: one import per package, and all at once) is run once. Checked are: every
object that the loader initialized is in `loads`, in its order; who needs it or called dlopen; and of each extension module the chain of
imports: CPython's nesting has to be contained in it, in order. Exit status 1 if anything differs.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGES = "numpy pandas requests cryptography pyyaml cython lxml scikit-learn"
IMPORTS = {"requests": "import requests", "cryptography": "from cryptography.hazmat.primitives.ciphers.aead import AESGCM", "numpy": "import numpy",
           "pandas": "import pandas", "pyyaml": "import yaml, yaml._yaml", "cython": "import Cython.Compiler.Scanning", "lxml": "import lxml.etree, lxml.objectify",
           "scikit-learn": "import sklearn.linear_model, sklearn.ensemble"}
LOCAL = ["import ssl, sqlite3, ctypes, decimal", "import ctypes; ctypes.CDLL('libcrypt.so.1'); import json, bz2"]


def base(path):
    return path.rsplit("/", 1)[-1]


def loader_words(text):
    """[(path, requester or None)] in the order of mapping, of the last program in the text."""
    objects, order = {}, []
    for line in text.splitlines():
        body = line.split(":\t", 1)[-1]
        # Later it says "needed by ... (relocation dependency)" of whose symbol was taken: that loads nothing.
        asked = re.match(r"file=(\S+) \[\d+\];  (needed|dynamically loaded) by (\S+) \[\d+\]$", body)
        if asked:
            objects[base(asked[1])] = (asked[2], asked[3])
        started = re.match(r"calling init: (\S+)", body)
        if started and base(started[1]) in objects:
            order.append((started[1], objects[base(started[1])]))
    return order


def import_chains(text):
    """{module: chain of module names, outermost first}, from lines that come after what they contain."""
    chains, open_levels = {}, []
    for line in reversed([one for one in text.splitlines() if one.startswith("import time:") and "[us]" not in one]):
        name = line.split("|")[2]
        depth = (len(name) - len(name.lstrip()) - 1) // 2
        del open_levels[depth:]
        open_levels.append(name.strip())
        chains.setdefault(name.strip(), list(open_levels))
    return chains


def is_part(short, long):
    rest = iter(long)
    return all(any(name == other for other in rest) for name in short)


def check_loads(document, words, wrong, real=os.path.realpath):
    """`real` makes one name of all that a file has."""
    nodes = {node["id"]: node for node in document["nodes"]}
    seen = {}
    for load in document["loads"]:
        path = nodes[load["object"]]["path"] or ""
        seen.setdefault(real(path), load)
    checked = 0
    for path, (how, by) in words:
        load = seen.get(real(path))
        if load is None:
            wrong.append(f"{path} is not in loads")
            continue
        checked += 1
        cause = nodes.get(load["cause"]) if load["cause"] else None
        if cause is None or cause["kind"] == "module":
            continue  # of a dlopen by an import the module is the cause; of the start nobody
        if base(real(cause["path"] or "")) != base(real(by)):
            wrong.append(f"{path}: {how} by {by}, told is {cause['path']}")
    return checked


def check_order(document, text, wrong, real=os.path.realpath):
    """The loads are told in the order in which the loader made its records."""
    nodes = {node["id"]: node for node in document["nodes"]}
    paths = {base(path): real(path) for path, _ in loader_words(text)}
    made = [paths[base(name)] for name in re.findall(r"file=(\S+) \[\d+\];  generating link map", text) if base(name) in paths]
    told = [path for path in (real(nodes[load["object"]]["path"] or "") for load in document["loads"]) if path in made]
    if told != made:
        wrong.append(f"the order is {[base(path) for path in made]}, told is {[base(path) for path in told]}")


def check_imports(document, chains, wrong):
    nodes = {node["id"]: node for node in document["nodes"]}
    checked, without = 0, 0
    for load in document["loads"]:
        steps = [step["module"] for step in load["imports"]]
        if not steps or not steps[-1]:
            continue
        if steps[-1] not in chains:
            without += 1
            continue
        checked += 1
        # "import a.b" begins with a, by the very same line: told is a only.
        chain = chains[steps[-1]]
        chain = [name for name, inner in zip(chain, [*chain[1:], ""]) if not inner or not name.startswith(inner + ".")]
        if not is_part(chain, steps):
            wrong.append(f"{nodes[load['object']]['path']}: CPython says {chains[steps[-1]]}, told is {steps}")
    return checked, without


def check(tracso, python, code, folder):
    prefix = str(pathlib.Path(folder) / "words")
    for old in pathlib.Path(folder).glob("words.*"):
        old.unlink()
    done = subprocess.run([tracso, "--json", "-o", prefix + ".json", "--run", "env", "LD_DEBUG=files", f"LD_DEBUG_OUTPUT={prefix}", python, "-X", "importtime", "-c", code],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env={**os.environ, "TRACSO_NO_STATE": "1"})
    document = json.loads(pathlib.Path(prefix + ".json").read_text())
    if done.returncode != 0 or document["command"]["exit_status"] != 0:
        raise SystemExit(f"{code}: exit {done.returncode}, {document['command']}\n{done.stderr[-2000:]}")
    wrong = []
    pid = document["process"]["pid"]
    words = pathlib.Path(f"{prefix}.{pid}").read_text()
    loads = check_loads(document, loader_words(words), wrong)
    check_order(document, words, wrong)
    imports, without = check_imports(document, import_chains(done.stderr), wrong)
    notices = [notice["text"] for notice in document["notices"] if "import" in notice["code"] or "load" in notice["code"]]
    print(f"  {code}: {loads} objects, {imports} chains of imports, {len(wrong)} differ" + (f"; {without} modules that importtime does not list" if without else "")
          + "".join(f"; notice: {text}" for text in notices))
    for line in wrong:
        print("    " + line)
    return len(wrong)


def environment(python, packages, folder):
    subprocess.run([python, "-m", "venv", folder], check=True, capture_output=True)
    own = folder + "/bin/python"
    there = []
    for package in packages:
        done = subprocess.run([own, "-m", "pip", "install", "-q", "--only-binary=:all:", package], capture_output=True, check=False)
        print(f"  {package}: {'no wheel' if done.returncode else 'installed'}")
        there += [package] if done.returncode == 0 else []
    return own, there


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--python", action="append")
    parser.add_argument("--packages", default=PACKAGES)
    parser.add_argument("--code", action="append")
    options = parser.parse_args()
    tracso, wrong = str(pathlib.Path(options.tracso).resolve()), 0
    for python in options.python or [sys.executable]:
        print(python)
        with tempfile.TemporaryDirectory() as folder:
            own, there = environment(python, options.packages.split(), folder + "/venv") if options.packages else (python, [])
            codes = options.code or [*LOCAL, *(IMPORTS.get(p, f"import {p}") for p in there), *(["; ".join(IMPORTS.get(p, f"import {p}") for p in there)] if len(there) > 1 else [])]
            wrong += sum(check(tracso, own, code, folder) for code in codes)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
