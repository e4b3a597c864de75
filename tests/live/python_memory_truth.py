"""Prints its own sys.modules as the memory probe should see it, then waits.

usage: python_memory_truth.py [--zoo] [--extra N] MODULE...
Each row is NAME FILE ORIGIN in hex ('-' for none), ended by a line "end"; then the script sleeps
until its stdin closes. --zoo fills sys.modules with every oddity a program can think of.
"""
import os
import sys
import types


def encoded(text):
    out = bytearray()
    for character in text:
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(code - 0xDC00)
        else:
            out += character.encode("utf-8", "surrogatepass")
    return out.hex() or "''"


def attribute(thing, name):
    """What the probe means by an attribute: no code of the program runs."""
    try:
        own = object.__getattribute__(thing, "__dict__")
    except Exception:
        own = {}
    if name in own:
        return own[name]
    if type(thing) is not types.ModuleType:
        for base in type(thing).__mro__:
            if name in base.__dict__:
                return base.__dict__[name]
    return None


def origin_of(spec):
    try:
        return object.__getattribute__(spec, "__dict__").get("origin")
    except Exception:
        return None


def print_truth():
    lines = []
    for name, module in list(sys.modules.items()):
        if not isinstance(name, str):
            continue
        file = attribute(module, "__file__")
        spec = attribute(module, "__spec__")
        origin = None if spec is None else origin_of(spec)
        texts = [t if isinstance(t, str) else None for t in (name, file, origin)]
        lines.append(" ".join("-" if t is None else encoded(t) for t in texts))
    sys.stdout.write("\n".join(lines) + "\nend\n")
    sys.stdout.flush()


def make_zoo():
    import importlib.machinery as machinery
    import tempfile

    def module(key, **attributes):
        made = types.ModuleType(str(key))
        made.__dict__.update(attributes)
        sys.modules[key] = made
        return made

    sys.modules["zoo_none"] = None
    module("zoo_relative", __file__="rel/path.so")
    module("zoo_bytes", __file__=b"/x/bytes.so")
    module("zoo_int", __file__=42)
    module("zoo_empty", __file__="")
    module("zoo_latin\u00e9", __file__="/x/latin\u00e9.so")
    module("zoo_bmp\u4e2d\u6587", __file__="/x/\u4e2d\u6587.so")
    module("zoo_astral\U0001F600", __file__="/x/\U0001F600.so")
    module("zoo_escape\udc80", __file__="/x/bad\udcff.so")
    module("zoo_lone\ud800", __file__="/x/lone\udfff.so")
    module('zoo_newline\n\t"\\', __file__='/x/new\nline".so')
    module("zoo_long", __file__="/x/" + "y" * 5000 + ".so")
    module("", __file__="/x/noname.so")
    del module("zoo_nospec").__dict__["__spec__"]
    module("zoo_namespace_spec", __spec__=types.SimpleNamespace(origin="/x/ns.so"))

    class Spec(machinery.ModuleSpec):
        pass

    module("zoo_spec_subclass", __spec__=Spec("zoo_spec_subclass", None, origin="/x/sub.so"))
    spec = machinery.ModuleSpec("zoo_spec_dict", None, origin="/x/specdict.so")
    vars(spec)["zzz"] = 1
    module("zoo_spec_dict", __spec__=spec)
    spec = machinery.ModuleSpec("zoo_many", None, origin="/x/many.so")
    for i in range(60):
        setattr(spec, "a%d" % i, i)
    module("zoo_many", __spec__=spec)
    spec = machinery.ModuleSpec("zoo_no_origin", None, origin="/x/del.so")
    del spec.origin
    module("zoo_no_origin", __spec__=spec)
    module("zoo_int_origin", __spec__=machinery.ModuleSpec("zoo_int_origin", None, origin=7))

    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            os._exit(99)  # whoever asks the module ends the program

    lazy = Lazy("zoo_lazy")
    dict.__setitem__(sys.modules, "zoo_lazy", lazy)

    class Property(types.ModuleType):
        @property
        def __file__(self):
            os._exit(98)

    sys.modules["zoo_property"] = Property("zoo_property")

    class ClassFile(types.ModuleType):
        __file__ = "/x/class_attribute.so"

    sys.modules["zoo_class_file"] = ClassFile("zoo_class_file")

    class Second:
        __file__ = "/x/second_base.so"

    class Both(types.ModuleType, Second):
        pass

    sys.modules["zoo_second_base"] = Both("zoo_second_base")

    class Plain:
        def __init__(self):
            self.__file__ = "/x/plain.so"
            self.other = 1

    sys.modules["zoo_plain"] = Plain()

    class Slots:
        __slots__ = ("__file__",)

    slots = Slots()
    slots.__file__ = "/x/slots.so"
    sys.modules["zoo_slots"] = slots

    class BadDict:
        @property
        def __dict__(self):
            raise RuntimeError

    sys.modules["zoo_bad_dict"] = BadDict()

    class Text(str):
        pass

    module("zoo_text_subclass", __file__=Text("/x/subclass.so"))
    sys.modules[Text("zoo_key_subclass")] = types.ModuleType("zoo_key_subclass")
    big = module("zoo_big", __file__="/x/big.so")
    for i in range(70000):
        big.__dict__["n%d" % i] = i
    module("zoo_general", __file__="/x/general.so").__dict__[1] = 2
    deleted = module("zoo_deleted", __file__="/x/deleted.so")
    for i in range(1000):
        deleted.__dict__["q%d" % i] = 1
    for i in range(1000):
        del deleted.__dict__["q%d" % i]
    emptied = module("zoo_emptied")
    emptied.__dict__.clear()
    late = module("zoo_late_file")
    for i in range(300):
        late.__dict__["l%d" % i] = 1
    late.__dict__["__file__"] = "/x/late.so"
    # A key equal to an interned one without being it.
    module("zoo_fresh_key").__dict__["".join(["__fi", "le__"])] = "/x/fresh.so"
    sys.modules["zoo_number"] = 5
    sys.modules["zoo_text"] = "text"
    sys.modules["zoo_class"] = Plain
    sys.modules["zoo_twice"] = sys.modules["zoo_relative"]
    sys.modules[("tuple", "key")] = types.ModuleType("t")
    sys.modules[5] = types.ModuleType("five")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "zoo_namespace"))
        sys.path.append(folder)
        import zoo_namespace
        sys.path.remove(folder)


def main():
    arguments = sys.argv[1:]
    zoo = "--zoo" in arguments
    extra = 0
    if "--extra" in arguments:
        at = arguments.index("--extra")
        extra = int(arguments[at + 1])
        del arguments[at:at + 2]
    for name in arguments:
        if name != "--zoo":
            try:
                __import__(name)
            except Exception:
                pass  # not built into this one
    if zoo:
        make_zoo()
    for i in range(extra):
        made = types.ModuleType("extra%d" % i)
        made.__file__ = "/extra/%d.so" % i
        sys.modules["extra%d" % i] = made
    print_truth()
    sys.stdin.read()


if __name__ == "__main__":
    main()
