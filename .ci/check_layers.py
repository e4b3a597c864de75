#!/usr/bin/env python3
"""Fails where an include goes against the arrows of docs/architecture.md, or where a header leaves <cstdint> to others."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
READERS = ["proc", "elf", "loader", "python", "calls"]
# folder of src: the folders it may include, besides itself and include/tracso
MAY_INCLUDE = {
    "base": [],
    "graph": ["base"],
    "os": ["base", "proc"],
    "proc": ["base"],
    "elf": ["base"],
    "tracee": ["base", "proc"],
    "loader": ["base", "proc", "elf"],
    "python": ["base", "proc", "elf"],
    "dump": ["base", "proc", "elf", "python", "tracee"],
    "calls": ["base", "proc", "elf", "tracee", "agent"],
    "launch": ["base", "proc", "elf", "loader", "python", "tracee"],
    "collect": ["base", "graph", "launch", *READERS],
    "analysis": ["base", "graph"],
    "findings": ["base", "graph", "analysis"],
    "compare": ["base", "graph", "analysis", "findings"],
    "render": ["base", "graph", "analysis"],
    "pick": ["base", "proc", "render"],
    "commands": ["base", "graph", "os", "collect", "analysis", "findings", "compare", "render", "launch", "pick", "proc", "python", "tracee", "dump", "calls"],
    "cli": ["base", "commands", "render"],
}
# costly or dangerous header: the folders that may include it
ONLY_IN = {
    "CLI/": ["cli"],
    "nlohmann/": ["graph", "python", "render", "commands", "os"],
    "filesystem": ["os"],
    "iostream": [],
    "regex": [],
    "ncurses": ["pick"],
    "curses": [],
    "libunwind": ["dump"],
}

wrong = []
for path in sorted([*ROOT.glob("src/**/*.?pp"), *ROOT.glob("include/**/*.?pp")]):
    where = path.relative_to(ROOT)
    folder = where.parts[1] if where.parts[0] == "src" else "include"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*([<"])([^">]+)', line)
        if not include:
            continue
        name = include[2]
        top = name.split("/")[0]
        own = top in ("tracso", "generated", folder) or top in MAY_INCLUDE.get(folder, [])
        if include[1] == '"' and not own:
            wrong.append(f"{where}:{number}: {folder}/ may not include {name}")
        for header, users in ONLY_IN.items():
            if include[1] == "<" and name.startswith(header) and folder not in users:
                wrong.append(f"{where}:{number}: <{name}> belongs in {users or 'no file'}")
# Which header brings the fixed-width integers along differs from one standard library to the next.
for path in sorted([*ROOT.glob("src/**/*.hpp"), *ROOT.glob("include/**/*.hpp"), *ROOT.glob("tests/**/*.hpp")]):
    text = path.read_text()
    if re.search(r"std::u?int(8|16|32|64|ptr)_t", re.sub(r"//.*", "", text)) and "#include <cstdint>" not in text:
        wrong.append(f"{path.relative_to(ROOT)}: says std::int..._t without <cstdint>")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
