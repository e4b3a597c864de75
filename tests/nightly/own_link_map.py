"""Loads extension modules and, with "ns", a library into a namespace of its own; prints every object
the loader has, one line each as OBJ, namespace, l_addr, l_ld, l_name; says READY and waits. For Python 3.5 too."""
import ctypes
import sys


class LinkMap(ctypes.Structure):
    pass


LinkMap._fields_ = [
    ("addr", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("ld", ctypes.c_size_t),
    ("next", ctypes.POINTER(LinkMap)),
    ("prev", ctypes.POINTER(LinkMap)),
]
RTLD_NOW, LM_ID_NEWLM, RTLD_DI_LMID, RTLD_DI_LINKMAP = 2, -1, 1, 2


def function(name, *types):
    for library in (None, "libdl.so.2"):
        try:
            found = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        found.restype = ctypes.c_void_p if name != "dlinfo" else ctypes.c_int
        found.argtypes = types
        return found
    raise SystemExit("no " + name)


dlinfo = function("dlinfo", ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def report(handle):
    space = ctypes.c_long()
    first = ctypes.POINTER(LinkMap)()
    if dlinfo(handle, RTLD_DI_LMID, ctypes.byref(space)) or dlinfo(
        handle, RTLD_DI_LINKMAP, ctypes.byref(first)
    ):
        raise SystemExit("dlinfo failed")
    while first.contents.prev:
        first = first.contents.prev
    while first:
        entry = first.contents
        print("OBJ", space.value, "%x" % entry.addr, "%x" % entry.ld, entry.name.decode(), sep="\t")
        first = entry.next


for module in ("ssl", "sqlite3", "lzma", "bz2", "readline", "_decimal", "_curses"):
    try:
        __import__(module)
    except ImportError as error:
        print("ABSENT", error)
handles = [ctypes.CDLL(None)._handle]
if "ns" in sys.argv:
    dlmopen = function("dlmopen", ctypes.c_long, ctypes.c_char_p, ctypes.c_int)
    for library in (b"libz.so.1", b"libexpat.so.1"):
        handle = dlmopen(LM_ID_NEWLM, library, RTLD_NOW)
        if not handle:
            raise SystemExit("dlmopen failed")
        handles.append(handle)
for handle in handles:
    report(handle)
print("READY", flush=True)
sys.stdin.read()
