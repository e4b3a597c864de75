"""Prints the line tables of the files named by its arguments, and what this interpreter itself makes
of them: "MINOR FIRST_LINE TABLE-IN-HEX BYTES OFFSET:LINE OFFSET:LINE ..." for each code object; a pair
for each instruction whose line is not that of the one before, line 0: it has none."""
import ctypes
import sys
import types

line_at = ctypes.pythonapi.PyCode_Addr2Line
line_at.argtypes = [ctypes.py_object, ctypes.c_int]
line_at.restype = ctypes.c_int


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def pairs(code):
    before = None
    for offset in range(0, len(code.co_code), 2):
        line = max(line_at(code, offset), 0)
        if line != before:
            yield "%d:%d" % (offset, line)
        before = line


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        whole = compile(file.read(), name, "exec")
    for code in codes(whole):
        table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        print(sys.version_info[1], code.co_firstlineno, table.hex() or "-", len(code.co_code), *pairs(code))
print("end", flush=True)
