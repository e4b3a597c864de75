#!/usr/bin/env python3
"""CPython's own tests of what an agent inside could break, natively and under `tracso calls`: signals, threads, fork,
ctypes, TLS sockets, fatal errors. The same tests have to pass, in as many cases.

    tests/nightly/calls_cpython.py TRACSO [PYTHON...]

PYTHON: an interpreter with its test package (default: those of pyenv). Exit status: 0 alike, 1 something differs, 77 none has one.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = "test_ctypes test_signal test_threading test_thread test_fork1 test_ssl test_faulthandler test_exceptions test_re test_json".split()
# The agent's options, by the name of the column.
MODES = {"adaptive": ["-c"], "exact": ["-c", "--exact"], "-f": ["-c", "-f"]}


def run(words, folder, environment):
    """The status of each test file, and how many cases there were."""
    found = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=1800, text=True, errors="replace")
    failed = set()
    for kind in re.finditer(r"^\d+ tests? (?:failed|altered the execution environment)[^:\n]*:\n((?:    .*\n)+)", found.stdout, re.M):
        failed |= set(kind.group(1).split())
    # With -v each file says it of itself, whatever the version.
    cases = sum(int(number) for number in re.findall(r"^Ran (\d+) tests? in", found.stdout, re.M))
    return failed, cases, found.stdout


def traced_words(tracso, options, document, words):
    return [tracso, "calls", *options, "-o", document, "--", *words]


def calls_in(document):
    report = json.loads(pathlib.Path(document).read_text())
    codes = collections.Counter(notice["code"] for notice in report["notices"])
    return sum(row["calls"] for row in report["calls"]), codes


def compare(tracso, python):
    label = subprocess.run([python, "-c", "import sys; print(sys.version.split()[0])"], stdout=subprocess.PIPE, text=True).stdout.strip()
    have = subprocess.run([python, "-c", "import test.test_signal, test.test_ssl"], stderr=subprocess.DEVNULL)
    if have.returncode != 0:
        print(f"{label}: {python} has no test package")
        return None
    words = [python, "-m", "test", "-v", *TESTS]
    same = True
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRACSO_NO_STATE": "1"}
        native, cases, text = run(words, folder, environment)
        print(f"{label}: native {cases} cases, not passed: {' '.join(sorted(native)) or 'none'}", flush=True)
        for name, options in MODES.items():
            document = os.path.join(folder, "calls.json")
            failed, seen, text = run(traced_words(tracso, options, document, words), folder, environment)
            calls, codes = calls_in(document) if os.path.exists(document) else (0, {})
            alike = failed == native and seen == cases and calls > 0
            same &= alike
            print(f"{label}: {name:8} {seen} cases, not passed: {' '.join(sorted(failed)) or 'none'}; {calls:,} calls"
                  f"{'' if alike else '  DIFFERENT'}", flush=True)
            if not alike:
                kept = pathlib.Path(tempfile.gettempdir()) / f"calls-cpython-{label}-{name.strip('-')}.txt"
                kept.write_text(text)
                print(f"  its output: {kept}")
    return same


def main():
    tracso = os.path.abspath(sys.argv[1])
    pythons = sys.argv[2:] or sorted(str(path) for path in pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    results = [compare(tracso, python) for python in pythons]
    if all(result is None for result in results):
        sys.exit(77)
    sys.exit(0 if all(result is not False for result in results) else 1)


if __name__ == "__main__":
    main()
