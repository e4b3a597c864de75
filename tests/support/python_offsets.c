/* Prints where the CPython whose headers it is compiled against keeps its fields, in the names of
 * src/python/layouts.hpp: one "name=bytes" a line. Nothing is linked or run but this file:
 *   cc -I .../include/python3.12 python_offsets.c -o offsets && ./offsets
 */
#define Py_BUILD_CORE 1
#include <Python.h>

#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_moduleobject.h"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_interpframe.h"
#endif

/* Structures that no header of the version shows; copied from its Objects/dict-common.h and
 * Objects/moduleobject.c. */
#if PY_VERSION_HEX < 0x030b0000
typedef struct {
  Py_hash_t me_hash;
  PyObject *me_key, *me_value;
} PyDictKeyEntry;

struct _dictkeysobject {
  Py_ssize_t dk_refcnt, dk_size;
  void* dk_lookup;
  Py_ssize_t dk_usable, dk_nentries;
  char dk_indices[];
};

typedef struct {
  PyObject_HEAD PyObject* md_dict;
} PyModuleObject;
#endif

#define NUMBER(name, value) printf("%s=%zu\n", name, (size_t)(value))
#define FIELD(name, type, field) NUMBER(name, offsetof(type, field))
#define BODY(name, type, field) NUMBER("body." name, offsetof(type, field) - sizeof(PyObject))

static void interpreter(void) {
  FIELD("interpreter.head", _PyRuntimeState, interpreters.head);
  FIELD("interpreter.next", PyInterpreterState, next);
  FIELD("interpreter.id", PyInterpreterState, id);
  FIELD("interpreter.sysdict", PyInterpreterState, sysdict);
#if PY_VERSION_HEX >= 0x030b0000
  FIELD("interpreter.threads", PyInterpreterState, threads.head);
#else
  FIELD("interpreter.threads", PyInterpreterState, tstate_head);
#endif
#if PY_VERSION_HEX >= 0x030c0000
  FIELD("interpreter.modules", PyInterpreterState, imports.modules);
#else
  FIELD("interpreter.modules", PyInterpreterState, modules);
#endif
}

static void thread_and_frame(void) {
  FIELD("thread.next", PyThreadState, next);
  FIELD("thread.interpreter", PyThreadState, interp);
  FIELD("thread.thread_id", PyThreadState, thread_id);
#if PY_VERSION_HEX >= 0x030b0000
  FIELD("thread.native_id", PyThreadState, native_thread_id);
#else
  NUMBER("thread.native_id", 0);
#endif
#if PY_VERSION_HEX >= 0x030d0000
  FIELD("thread.frame", PyThreadState, current_frame);
#elif PY_VERSION_HEX >= 0x030b0000
  FIELD("thread.frame", PyThreadState, cframe);
  FIELD("thread.cframe_to", _PyCFrame, current_frame);
#else
  FIELD("thread.frame", PyThreadState, frame);
#endif
#if PY_VERSION_HEX >= 0x030b0000
  FIELD("frame.previous", _PyInterpreterFrame, previous);
#if PY_VERSION_HEX >= 0x030d0000
  FIELD("frame.code", _PyInterpreterFrame, f_executable);
  FIELD("frame.instruction", _PyInterpreterFrame, instr_ptr);
#else
  FIELD("frame.code", _PyInterpreterFrame, f_code);
  FIELD("frame.instruction", _PyInterpreterFrame, prev_instr);
#endif
  FIELD("frame.owner", _PyInterpreterFrame, owner);
  FIELD("frame.locals", _PyInterpreterFrame, localsplus);
  FIELD("frame.globals", _PyInterpreterFrame, f_globals);
#else
  FIELD("frame.previous", PyFrameObject, f_back);
  FIELD("frame.code", PyFrameObject, f_code);
  FIELD("frame.instruction", PyFrameObject, f_lasti);
  NUMBER("frame.owner", 0);
  FIELD("frame.locals", PyFrameObject, f_localsplus);
  FIELD("frame.globals", PyFrameObject, f_globals);
#endif
#if PY_VERSION_HEX >= 0x030e0000 && defined(Py_GIL_DISABLED)
  FIELD("frame.copy", _PyInterpreterFrame, tlbc_index);
#else
  NUMBER("frame.copy", 0);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
  FIELD("frame.entry", _PyInterpreterFrame, is_entry);
#else
  NUMBER("frame.entry", 0);
#endif
}

static void code(void) {
  FIELD("code.filename", PyCodeObject, co_filename);
  FIELD("code.name", PyCodeObject, co_name);
  FIELD("code.first_line", PyCodeObject, co_firstlineno);
#if PY_VERSION_HEX >= 0x030b0000
  FIELD("code.qualified_name", PyCodeObject, co_qualname);
  FIELD("code.instructions", PyCodeObject, co_code_adaptive);
#else
  NUMBER("code.qualified_name", 0);
  NUMBER("code.instructions", 0);
#endif
#if PY_VERSION_HEX >= 0x030a0000
  FIELD("code.line_table", PyCodeObject, co_linetable);
#else
  FIELD("code.line_table", PyCodeObject, co_lnotab);
#endif
}

static void copies(void) {
#if PY_VERSION_HEX >= 0x030e0000 && defined(Py_GIL_DISABLED)
  FIELD("code.copies", PyCodeObject, co_tlbc);
#else
  NUMBER("code.copies", 0);
#endif
}

static void objects(void) {
  NUMBER("object.bytes", sizeof(PyObject));
  FIELD("object.type", PyObject, ob_type);
  FIELD("object.cached_keys", PyHeapTypeObject, ht_cached_keys);
  NUMBER("object.ascii", sizeof(PyASCIIObject));
  NUMBER("object.compact", sizeof(PyCompactUnicodeObject));
  BODY("type_name", PyTypeObject, tp_name);
  BODY("type_basicsize", PyTypeObject, tp_basicsize);
  BODY("type_flags", PyTypeObject, tp_flags);
  BODY("type_base", PyTypeObject, tp_base);
  BODY("type_dict", PyTypeObject, tp_dict);
  BODY("type_dictoffset", PyTypeObject, tp_dictoffset);
  BODY("type_mro", PyTypeObject, tp_mro);
  BODY("text_length", PyASCIIObject, length);
  BODY("text_hash", PyASCIIObject, hash);
  BODY("text_state", PyASCIIObject, state);
  BODY("module_dict", PyModuleObject, md_dict);
#if PY_VERSION_HEX >= 0x030c0000
  BODY("integer_size", PyLongObject, long_value.lv_tag);
  BODY("integer_digits", PyLongObject, long_value.ob_digit);
#else
  BODY("integer_size", PyVarObject, ob_size);
  BODY("integer_digits", PyLongObject, ob_digit);
#endif
  BODY("bytes_size", PyVarObject, ob_size);
  BODY("bytes_data", PyBytesObject, ob_sval);
  BODY("tuple_size", PyVarObject, ob_size);
#if PY_VERSION_HEX < 0x030e0000
  BODY("tuple_items", PyTupleObject, ob_item);
#endif
}

static void dicts(void) {
  BODY("dict_used", PyDictObject, ma_used);
  BODY("dict_keys", PyDictObject, ma_keys);
  BODY("dict_values", PyDictObject, ma_values);
#if PY_VERSION_HEX >= 0x030b0000
  FIELD("table.log2_slots", struct _dictkeysobject, dk_log2_size);
  FIELD("table.log2_index_bytes", struct _dictkeysobject, dk_log2_index_bytes);
  FIELD("table.kind", struct _dictkeysobject, dk_kind);
  FIELD("table.count", struct _dictkeysobject, dk_nentries);
  FIELD("table.indices", struct _dictkeysobject, dk_indices);
#endif
#if PY_VERSION_HEX >= 0x030d0000
  FIELD("value_array.valid", struct _dictvalues, valid);
  FIELD("value_array.first", struct _dictvalues, values);
#endif
}

int main(void) {
#ifdef Py_GIL_DISABLED
  NUMBER("free_threaded", 1);
#else
  NUMBER("free_threaded", 0);
#endif
  NUMBER("minor", PY_MINOR_VERSION);
  interpreter();
  thread_and_frame();
  code();
  copies();
  objects();
  dicts();
  return 0;
}
