#!/usr/bin/env python3
"""Records of the loader against the rules, edge by edge, on a Python full of big wheels.

agreement.py TRACSO [PACKAGE...]   default packages: pandas scikit-learn pyarrow

Makes a virtual environment with pip in a folder that goes away, imports the packages and all of their
extension modules that import, and looks at that process. For every needed name the loader's records say
which file it led to, and tracso's rules say which file they give. Prints how many agree and how; every
other edge with what tracso says of it. Exit status 1 if there is one.
"""
import json
import os
import subprocess
import sys
import tempfile

IMPORTS = {"scikit-learn": "sklearn"}
CHILD = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    top = importlib.import_module(name)
    for found in pkgutil.walk_packages(top.__path__, name + ".", onerror=lambda _: None):
        if ".tests" in found.name or found.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(found.name)
        except BaseException:
            pass  # optional parts that are not installed
print("READY", flush=True)
sys.stdin.read()
"""


def document(tracso, *words):
    done = subprocess.run([tracso, "--json", *words], capture_output=True, check=False,
                          env={**os.environ, "TRACSO_NO_STATE": "1"})
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode())
    return json.loads(done.stdout)


def compare(trace):
    nodes = {node["id"]: node for node in trace["nodes"]}
    tally, odd = {}, []
    for edge in trace["edges"]:
        if edge["relation"] != "needed":
            continue
        to = nodes[edge["target"]]
        if to["state"] == "missing" or edge["restart_would_load"] or not edge["rule"]:
            odd.append(f'{edge["source"]} needs {edge["needed"]}: {to["path"] or "missing"}; rules give '
                       f'{edge["restart_would_load"] or "nothing"} ({edge["detail"] or to["note"] or "no word"})')
            continue
        how = edge["rule"] + (", fragile" if edge["fragile"] else "")
        tally[how] = tally.get(how, 0) + 1
    odd += [f'{node["id"]}: {node["note"]}' for node in nodes.values() if node["note"]]
    return tally, odd


def main():
    tracso, packages = sys.argv[1], sys.argv[2:] or ["pandas", "scikit-learn", "pyarrow"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = os.path.join(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *packages],
                       check=True)
        child = subprocess.Popen([python, "-c", CHILD, *(IMPORTS.get(p, p) for p in packages)],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            while (line := child.stdout.readline()) and line != b"READY\n":
                pass
            trace = document(tracso, str(child.pid))
        finally:
            child.kill()
            child.wait()
    tally, odd = compare(trace)
    print(f'{" ".join(packages)}: {trace["totals"]["libraries"]} libraries, '
          f'{sum(tally.values()) + len(odd)} needed names')
    for how, count in sorted(tally.items(), key=lambda item: -item[1]):
        print(f"  {count:6} {how}")
    for words in odd:
        print("  UNEXPLAINED", words)
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
