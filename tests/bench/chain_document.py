#!/usr/bin/env python3
"""How long an answer about a long chain of libraries takes, and whether that grows faster than the chain.

Usage: chain_document.py TRACSO [--rounds N] [--lengths 10000,20000,40000]

Makes documents (docs/json.md) in which a program needs the first of N libraries and each the next, and asks each form of output for them:
`tracso --from FILE` and so on. Prints the fastest of N runs in processor seconds, and what a library takes in the longest chain to what it
takes in the shortest: 1 is linear.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile


def library(number):
    return {"id": f"lib{number}", "kind": "library", "path": f"/usr/lib/libchain{number:06}.so", "soname": f"libchain{number:06}.so", "size": 15000,
            "loaded": True, "in_link_map": True, "device": 1, "inode": number + 2, "load_order": number + 1, "first_cause": "startup"}


def edge(source, target, kind="needed", needed=""):
    return {"source": source, "target": target, "kind": kind, "relation": kind, "needed": needed, "rule": "cache", "first": True,
            "witnesses": ["link_map"]}


def document(count):
    nodes = [{"id": "root", "kind": "process", "name": "pid:4711", "pid": 4711},
             {"id": "program", "kind": "executable", "path": "/usr/bin/app", "size": 20000, "loaded": True, "device": 1, "inode": 1, "load_order": 0}]
    edges = [edge("root", "program", "origin")]
    for number in range(count):
        nodes.append(library(number))
        edges.append(edge(f"lib{number - 1}" if number else "program", f"lib{number}", needed=f"libchain{number:06}.so"))
    return {"schema": "tracso/1", "kind": "trace", "target": "pid:4711", "process": {"pid": 4711, "start_time": 1, "exe": "/usr/bin/app", "command": ["app"]},
            "nodes": nodes, "edges": edges}


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "TRACSO_NO_STATE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracso")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lengths", default="10000,20000,40000")
    options = parser.parse_args()
    lengths = [int(one) for one in options.lengths.split(",")]
    forms = {"report": [], "--tree": ["--tree"], "--json": ["--json"], "--csv": ["--csv"], "--findings": ["--findings"], "-o x.dot": ["-o", "x.dot"],
             "-o x.html": ["-o", "x.html"], "--why the first": ["--why", "libchain000000.so"], "--why the last": ["--why", None],
             "--depth 0 --why the last": ["--depth", "0", "--why", None]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for length in lengths:
            (folder / f"{length}.json").write_text(json.dumps(document(length)))
        print("| " + " | ".join(["chain of libraries, s", *map(str, lengths), "longest to shortest, per library"]) + " |\n|" + "---|" * (len(lengths) + 2))
        for form, words in forms.items():
            times = []
            for length in lengths:
                asked = [f"libchain{length - 1:06}.so" if word is None else str(folder / word) if word.startswith("x.") else word for word in words]
                times.append(min(seconds([options.tracso, *asked, "--from", str(folder / f"{length}.json")]) for _ in range(options.rounds)))
            ratio = times[-1] / lengths[-1] / (times[0] / lengths[0])
            print(f"| {form} | " + " | ".join(f"{time:.2f}" for time in times) + f" | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
