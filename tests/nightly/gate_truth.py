#!/usr/bin/env python3
"""What --run tells of a Python under another glibc, in a root of its own, against that glibc's LD_DEBUG and CPython's -X importtime.

gate_truth.py TRACSO ROOT PYTHON    (PYTHON: the path inside ROOT; needs root)

Four runs. In the first, and in the second by ld.so PROGRAM: every object that the loader initialized is told, in the order of its records,
with who needs or asked for it; what the loader refused, by its name; how long each dlopen took is more than nothing and no more than the
import took that it was for; the chains of imports. The program says itself what stands at the loader's hook: a gate, or if not, the reason
that the loader's file gives. In the third a library comes, goes, comes again and comes in a namespace of its own. In the last tracso lets
go by --at while the program lives on: the loader's code is then that of its file, and dlopen works as ever.

Prints a line for each of the first two and what differs; exit status 1 if anything does.
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time

from run_truth import check_imports, check_loads, check_order, import_chains, loader_words

HOOK = "ctypes.cast(ctypes.CDLL(None)._dl_debug_state, ctypes.c_void_p).value"
SAY_HOOK = f"import binascii; print(binascii.hexlify(ctypes.string_at({HOOK}, 16)).decode()); sys.stdout.flush()"
LOADS = f"""
import ssl, sqlite3, ctypes, decimal, sys
try: ctypes.CDLL('libtracso_nowhere.so.1')
except OSError: pass
{SAY_HOOK}
"""
LIVES_ON = f"""
import ctypes, os, sys
print(os.getpid())
{SAY_HOOK}
sys.stdin.readline()
import ssl, sqlite3, decimal
try: ctypes.CDLL('libtracso_nowhere.so.1')
except OSError: pass
{SAY_HOOK}
"""
# Opened, closed, opened again, and once more in a namespace of its own, whose lists the gate does not know.
UNLOADS = """
import ctypes, _ctypes
_ctypes.dlclose(ctypes.CDLL('libbz2.so.1.0')._handle)
again = ctypes.CDLL('libbz2.so.1.0')
dlmopen = ctypes.CDLL(None).dlmopen
dlmopen.restype, dlmopen.argtypes = ctypes.c_void_p, [ctypes.c_long, ctypes.c_char_p, ctypes.c_int]
raise SystemExit(0 if dlmopen(-1, b'libbz2.so.1.0', 2) else 3)
"""
# Set inside: chroot itself is a program of the system outside.
WORDS = "import os, sys; os.environ.update(LD_DEBUG='files,libs', LD_DEBUG_OUTPUT='/words'); os.execv(sys.argv[1], sys.argv[1:])"
# A root has no /dev/urandom, from which old Pythons want a number.
ENVIRONMENT = {**os.environ, "TRACSO_NO_STATE": "1", "PYTHONHASHSEED": "0"}
SHORTEST_DLOPEN_NS = 20_000  # a file is searched, opened and mapped in it


def run(tracso, output, options, command):
    return [tracso, "--json", "-o", str(output), *options, "--run", *command]


def refused_by_loader(text):
    asked = re.findall(r"file=(\S+) \[\d+\];  dynamically loaded by", text)
    mapped = set(re.findall(r"file=(\S+) \[\d+\];  generating link map", text))
    return sorted({name for name in asked if name not in mapped})


def import_times(text):
    """{module: nanoseconds of its import with all below it}"""
    found = re.findall(r"^import time:\s*\d+ \|\s*(\d+) \|\s*(\S+)$", text, re.M)
    return {name: (int(micros) + 1) * 1000 for micros, name in found}


def check_times(document, limits, wrong):
    dlopens, last = 0, 0
    wall = document["command"].get("wall_ns") or 10**12
    for load in document["loads"]:
        if load["time_ns"] < last:
            wrong.append(f"load {load['object']} is told before what came before it")
        last = load["time_ns"]
        if load["dlopen"] == 0:
            continue
        dlopens += 1
        took, steps = load["duration_ns"], [step["module"] for step in load["imports"]]
        limit = limits.get(steps[-1], wall) if steps else wall
        if not SHORTEST_DLOPEN_NS <= took <= limit:
            wrong.append(f"load {load['object']} by {steps}: the dlopen took {took} ns, at most {limit} are left for it")
    return dlopens


def loader_of(root):
    """The file, its executable segment as (offset, address, bytes in the file), and the end of what comes behind it in its last page."""
    path = next(p for p in sorted(pathlib.Path(root, "usr/lib/x86_64-linux-gnu").glob("ld-*.so*")) + sorted(pathlib.Path(root, "lib/x86_64-linux-gnu").glob("ld-*.so*")) if not p.is_symlink())
    data = path.read_bytes()
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]
    loads = [h for h in headers if h[0] == 1]
    code = next(h for h in loads if h[1] & 1)
    return path, data, (code[2], code[3], code[5]), [h[3] for h in loads]


def why_no_gate(root, native):
    clock = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text()
    if clock not in ("tsc\n", "hyperv_clocksource_tsc_page\n"):
        return f"the kernel's clock is {clock.strip()}"
    _, _, (_, address, size), starts = loader_of(root)
    end = address + size
    page = -(-end // 4096) * 4096
    if page - -(-end // 16) * 16 < 32 or any(end <= start < page for start in starts):
        return "no room behind the loader's code"
    if not re.match("(f30f1efa)?(f3)?c3(66|2e|0f1f|90|cc|00|f30f1efa)", native):
        return f"the hook is {native}"
    return ""


def words_of_hook(text):
    return re.findall(r"^[0-9a-f]{32}$", text, re.M)


def check_run(tracso, root, program, wrong):
    """`program`: the words that start a Python."""
    for old in pathlib.Path(root).glob("words.*"):
        old.unlink()
    output = pathlib.Path(root) / "gate_truth.json"
    native = words_of_hook(subprocess.run(["chroot", root, *program, "-c", LOADS], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout)[0]
    command = ["chroot", root, program[-1], "-c", WORDS, *program, "-X", "importtime", "-c", LOADS]
    done = subprocess.run(run(tracso, output, [], command), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
                          env=ENVIRONMENT)
    document = json.loads(output.read_text()) if output.exists() else {"command": {"exit_status": None}}
    if done.returncode != 0 or document["command"]["exit_status"] != 0:
        raise SystemExit(f"exit {done.returncode}, {document['command']}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    text = (pathlib.Path(root) / f"words.{document['process']['pid']}").read_text()

    def inside(path):
        path = path if path.startswith(root) else root + path
        return os.path.realpath(path)

    checked = check_loads(document, loader_words(text), wrong, inside)
    check_order(document, text, wrong, inside)
    told = sorted({failure["asked"] or failure["name"] for failure in document["failed_loads"]})
    # Before 2.26 the loader's functions that signal have no names: then that is to be said.
    unseen = b"_dl_signal_exception" not in loader_of(root)[1]
    if unseen != any(notice["code"] == "failed-loads-not-seen" for notice in document["notices"]):
        wrong.append("whether refused loads can be seen is told wrongly")
    if told != ([] if unseen else refused_by_loader(text)):
        wrong.append(f"refused: the loader says {refused_by_loader(text)}, told is {told}")
    chains, _ = check_imports(document, import_chains(done.stderr), wrong)
    dlopens = check_times(document, import_times(done.stderr), wrong)
    hook = words_of_hook(done.stdout)[0]
    gate, ran = hook.startswith("e9"), document["intrusion"]["code_executed"]
    reason = why_no_gate(root, native)
    # Without a gate a breakpoint stands at the hook itself.
    if gate != ran or gate != (not reason) or (not gate and hook != "cc" + native[2:]):
        wrong.append(f"hook {hook}, natively {native}, code_executed {ran}, reason against a gate: {reason or 'none'}")
    notices = [notice["text"] for notice in document["notices"] if "load" in notice["code"] or "import" in notice["code"]]
    return f"{'gate' if gate else 'no gate: ' + reason}; {checked} objects, {dlopens} of them by dlopen, {len(told)} refused, {chains} chains of imports" + "".join(f"; notice: {n}" for n in notices)


def check_unloads(tracso, root, python, wrong):
    output = pathlib.Path(root) / "gate_truth.json"
    subprocess.run(run(tracso, output, [], ["chroot", root, python, "-c", UNLOADS]), stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=120, env=ENVIRONMENT)
    document = json.loads(output.read_text())
    nodes = {node["id"]: node for node in document["nodes"]}
    loads = [load for load in document["loads"] if os.path.basename(nodes[load["object"]]["path"] or "").startswith("libbz2")]
    seen = [(load["unloaded_ns"] is not None and load["unloaded_ns"] > load["time_ns"], load["duration_ns"] >= SHORTEST_DLOPEN_NS) for load in loads]
    if document["command"]["exit_status"] != 0 or seen != [(True, True), (False, True), (False, True)] or len({load["dlopen"] for load in loads}) != 3:
        wrong.append(f"opened, closed, opened, opened in a namespace: told is {loads}, {document['command']}")


def code_differs(pid, root):
    """Where the loader's code in memory is not that of its file; nothing: nowhere."""
    path, data, (offset, address, size), _ = loader_of(root)
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split()
        if len(fields) > 5 and "x" in fields[1] and os.path.basename(fields[5]) == path.name:
            start, first = int(fields[0].split("-")[0], 16), int(fields[2], 16)
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                memory.seek(start + offset - first)
                seen = memory.read(size)
            return [hex(address + i) for i in range(size) if seen[i] != data[offset + i]]
    return ["its code is not mapped"]


def check_release(tracso, root, python, wrong):
    output = pathlib.Path(root) / "gate_truth.json"
    done = subprocess.Popen(run(tracso, output, ["--at", "2"], ["chroot", root, python, "-u", "-c", LIVES_ON]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    pid = int(done.stdout.readline())
    before = done.stdout.readline().strip()
    changed = code_differs(pid, root)
    if not changed or not before.startswith(("e9", "cc")):
        wrong.append(f"the hook is {before}, the loader's code differs from its file at {changed}")
    limit = time.monotonic() + 30
    while not re.search(r"^TracerPid:\t0$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M) and time.monotonic() < limit:
        time.sleep(0.05)
    if code_differs(pid, root):
        wrong.append(f"let go, but the loader's code differs from its file at {code_differs(pid, root)}")
    out, err = done.communicate("\n", timeout=60)
    document = json.loads(output.read_text())
    if done.returncode != 0 or document["command"]["exit_status"] != 0 or words_of_hook(out)[0].startswith("e9"):
        wrong.append(f"let go, it ended with {document['command']}; {out[-300:]}{err[-1000:]}")


def main():
    tracso, root, python = str(pathlib.Path(sys.argv[1]).resolve()), os.path.realpath(sys.argv[2]), sys.argv[3]
    wrong = []
    print(check_run(tracso, root, [python], wrong))
    named = check_run(tracso, root, ["/lib64/ld-linux-x86-64.so.2", python], wrong)
    print("    ld.so PROGRAM: " + named)
    check_unloads(tracso, root, python, wrong)
    check_release(tracso, root, python, wrong)
    for line in wrong:
        print("    " + line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
