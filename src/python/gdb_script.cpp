#include "python/gdb_script.hpp"

#include "tracso/gdb_session.hpp"

#include <fmt/format.h>

#include <initializer_list>

// The danger of calling a function in a stopped process is the place where it stands: inside
// malloc() the call sees a half-changed heap, and one thread of 25 to 8 such targets died of it.
// So a call is made in two situations only:
//
//   direct   the main thread waits in a system call (so it is in no critical piece of code), but
//            not for the lock of the interpreter (GIL), does not hold it, and the lock is free or
//            its holder is seen inside the interpreter's loop, which hands it over within
//            milliseconds
//   pending  otherwise: PyCallable_Check(NULL), a function without effect, is queued as a pending
//            call, which the main thread makes between two instructions of Python; a breakpoint
//            waits for it there
//
// What remains: a thread that holds the lock and enters C code right after it was seen in the loop
// keeps the call waiting as long; a thread that computes in C without the lock is taken for one
// that may hold it (from 3.12 on), then there is no safe point while the main thread waits; user
// code that runs whenever any Python runs (signal handlers, trace functions, audit hooks,
// finalizers) may run during ours.

namespace tracso::python {
namespace {

constexpr std::string_view settings = R"(set confirm off
set pagination off
set width 0
set print thread-events off
set print inferior-events off
set breakpoint pending off
set unwindonsignal on
set unwind-on-terminating-exception on
set stack-cache off
handle all nostop noprint pass
)";

// $waits: is the thread in a system call that waits (1), for a lock of the interpreter itself (2)?
// The latter is a condition variable, which breaks if a thread that waits for it uses it again: the
// call would never return. Those locks lie in the data of the object that is the interpreter, all
// others on the heap. A futex call that waits has operation 0 or 9. The system calls are 0 read 1
// write 7 poll 20 writev 23 select 34 pause 35 nanosleep 43 accept 44 sendto 45 recvfrom 46 sendmsg
// 47 recvmsg 61 wait4 128 rt_sigtimedwait 130 rt_sigsuspend 230 clock_nanosleep 232 epoll_wait 247
// waitid 270 pselect6 271 ppoll 281 epoll_pwait 288 accept4 441 epoll_pwait2, 202 futex, and
// 219 restart_syscall: a sleep, poll or futex with a time limit, after an interruption (x86-64).
// 0x050f is the instruction syscall.
constexpr std::string_view waits_command = R"(define tracso_waits
  set $waits = 0
  if $orig_rax >= 0 && *(unsigned short*)($pc-2) == 0x050f
    set $n = $orig_rax
    if $n==0 || $n==1 || $n==7 || $n==20 || $n==23 || $n==34 || $n==35 || $n==43 || $n==44 || $n==45 || $n==46 || $n==47 || $n==61
      set $waits = 1
    end
    if $n==128 || $n==130 || $n==230 || $n==232 || $n==247 || $n==270 || $n==271 || $n==281 || $n==288 || $n==441
      set $waits = 1
    end
    if $n==219 || ($n==202 && (($rsi & 0x7f) == 0 || ($rsi & 0x7f) == 9))
      set $waits = 1
      if $rdi >= $own && $rdi < $own_end
        set $waits = 2
      end
    end
  end
end
)";

// $free: may PyGILState_Ensure be called, will it return soon?
constexpr std::string_view lock_commands = R"(define tracso_look_at_thread
  set $threads = $threads + 1
  tracso_waits
  if $waits
    if $ask_each
      if ((int(*)(void))$PyGILState_Check)()
        set $holders = $holders + 1
      end
    end
  else
    if $pc >= $eval && $pc < $eval_end
      set $running = $running + 1
    else
      set $unclear = $unclear + 1
    end
  end
end
define tracso_look_at_lock
  set $threads = 0
  set $holders = 0
  set $running = 0
  set $unclear = 0
  set scheduler-locking on
  if $current_state != 0
    if ((unsigned long(*)(void))$current_state)() == 0
      set $free = 1
    end
  end
  if !$free
    thread apply all -q tracso_look_at_thread
    if $running > 0 || ($ask_each && $holders == 0 && $unclear == 0)
      set $free = 1
    end
  end
  set scheduler-locking off
end
define tracso_find_lock_free
  set $tries = 20
  while !$free && $tries > 0
    tracso_look_at_lock
    set $tries = $tries - 1
    if $threads > 32
      set $tries = $tries - 6
    end
    if !$free
      set $ignored = ((int(*)(void))$PyGILState_Check)()
    end
  end
end
)";

// The lock is held. After an error in here it would stay so; what can fail was tried before.
constexpr std::string_view run_command = R"(define tracso_run
  set $buffer = ((void*(*)(void*,long))$PyBytes_FromStringAndSize)((void*)0, @LENGTH@)
  set $names = 0
  set $dict = (void*)0
  set $modules = (void*)0
  if $buffer != 0
    set $names = ((unsigned long(*)(void*))$PyBytes_AsString)($buffer)
    restore @CODE@ binary $names
    set $modules = ((void*(*)(unsigned long))$PySys_GetObject)($names)
    set $dict = ((void*(*)(void))$PyDict_New)()
  end
  if $modules == 0 || $dict == 0
    call (void)((void(*)(void))$PyErr_Clear)()
    echo TRACSO: failed\n
  else
    set $ignored = ((int(*)(void*,unsigned long,void*))$PyDict_SetItemString)($dict, $names, $modules)
    set $value = ((void*(*)(unsigned long,int,void*,void*,void*))$PyRun_StringFlags)($names + 16, 257, $dict, $dict, (void*)0)
    if $value == 0
      call (void)((void(*)(void))$PyErr_Clear)()
      echo TRACSO: raised\n
    else
      call (void)((void(*)(void*))$Py_DecRef)($value)
      set $value = ((void*(*)(void*,unsigned long))$PyDict_GetItemString)($dict, $names + 8)
      set $start = ((unsigned long(*)(void*))$PyBytes_AsString)($value)
      set $count = ((long(*)(void*))$PyBytes_Size)($value)
      if $count > 0 && $count <= @LIMIT@
        dump binary memory @ANSWER@ $start $start+$count
        echo TRACSO: result\n
      else
        echo TRACSO: failed\n
      end
    end
  end
  if $dict != 0
    call (void)((void(*)(void*))$Py_DecRef)($dict)
  end
  if $buffer != 0
    call (void)((void(*)(void*))$Py_DecRef)($buffer)
  end
end
)";

// SIGSEGV and the like stop the call, which is then taken back; while the target runs by itself
// they are its own affair.
constexpr std::string_view work_command = R"(define tracso_direct
  echo TRACSO: direct\n
  set $state = ((int(*)(void))$PyGILState_Ensure)()
  tracso_run
  call (void)((void(*)(int))$PyGILState_Release)($state)
end
define tracso_pending
  set $added = ((int(*)(unsigned long,void*))$Py_AddPendingCall)($PyCallable_Check, (void*)0)
  if $added != 0
    echo TRACSO: queue full\n
  else
    tbreak *$PyCallable_Check thread 1 if $rdi == 0
    tcatch exec
    handle SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT nostop noprint pass
    handle SIGWINCH stop print pass
    echo TRACSO: waiting\n
    continue
    if $_thread == 1 && $pc == $PyCallable_Check
      echo TRACSO: safe point\n
      delete
      shell @GATE@
      if $_shell_exitcode == 0
        handle SIGWINCH nostop noprint pass
        handle SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT stop print nopass
        tracso_run
      end
    else
      echo TRACSO: no safe point\n
      delete
    end
  end
end
define tracso_work
  handle SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT stop print nopass
  set $free = 0
  tracso_waits
  if $waits == 1
    if ((int(*)(void))$PyGILState_Check)() == 0
      if $no_lock
        set $free = 1
      end
      tracso_find_lock_free
    end
  end
  if $free
    tracso_direct
  else
    tracso_pending
  end
end
)";

// A call whose registers cannot be written breaks the system call that the thread is in; so a
// register that nobody misses (the opcode of the last x87 instruction) is changed and put back
// first. The dump tries the way of the answer. Both may fail here: nothing has been done yet.
constexpr std::string_view main_part = R"(define tracso_try_registers
  set $opcode = $fop
  set $fop = $opcode ^ 1
  set $fop = $opcode
  set $writable = 1
end
set $writable = 0
echo TRACSO: attaching\n
attach @PID@
thread 1
thread apply 1 -q -s tracso_try_registers
dump binary memory @ANSWER@ $sp $sp+1
if $writable
  echo TRACSO: attached\n
  shell @GATE@
  if $_shell_exitcode == 0
    tracso_work
  end
else
  echo TRACSO: registers\n
end
detach
echo TRACSO: detached\n
quit
)";

// No name of a builtin and no import: what the target has put in their place must not run. The two
// descriptors of `type` read the dictionary and the bases of a class; an object's own dictionary is
// read through its class' descriptor, if that is one made in C; a class attribute counts, as it
// does for whoever asks the module. A field is "LENGTH:BYTES" or "-".
constexpr std::string_view code = R"(
t = ().__class__.__class__
namespace = t.__dict__['__dict__'].__get__
bases = t.__dict__['__mro__'].__get__
function = t(lambda: 0).__dict__
made_in_c = (t(function['__code__']), t(function['__globals__']))
string = ''.__class__
dictionary = {}.__class__
def own(thing):
    for c in bases(t(thing)):
        names = namespace(c)
        if '__dict__' in names:
            way = names['__dict__']
            if t(way) is made_in_c[0] or t(way) is made_in_c[1]:
                try:
                    found = way.__get__(thing)
                except:
                    return {}
                if t(found) is dictionary:
                    return found
            return {}
    return {}
def attribute(thing, name):
    names = own(thing)
    if name in names:
        return names[name]
    for c in bases(t(thing)):
        names = namespace(c)
        if name in names:
            return names[name]
def field(thing):
    for c in bases(t(thing)):
        if c is string:
            thing = string.encode(thing, 'utf-8', 'surrogatepass')
            return b'%d:%s' % (thing.__len__(), thing)
    return b'-'
modules = dictionary.copy(modules)
r = [b'tracso 1 ', field(own(modules.get('sys')).get('version'))]
for name, module in modules.items():
    spec = attribute(module, '__spec__')
    r.append(field(name) + field(attribute(module, '__file__')) + field(own(spec).get('origin')))
r = b''.join(r)
)";

void replace_all(std::string& text, std::string_view word, std::string_view with) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + with.size())) {
    text.replace(at, word.size(), with);
  }
}

std::string variables(const GdbScriptInput& input) {
  std::string text;
  for (std::size_t i = 0; i < gdb_functions.size(); ++i) {
    text += fmt::format("set ${} = {:#x}\n", gdb_functions[i], input.functions[i]);
  }
  const bool one_state = input.lock == LockKnowledge::current_state && input.current_state != 0;
  text += fmt::format("set $current_state = {:#x}\n", one_state ? input.current_state : 0);
  text += fmt::format("set $ask_each = {}\n", one_state ? 0 : 1);
  text += fmt::format("set $no_lock = {}\n", input.lock == LockKnowledge::no_lock ? 1 : 0);
  text += fmt::format("set $own = {:#x}\nset $own_end = {:#x}\n", input.own, input.own_end);
  text += fmt::format(
      "set $eval = {:#x}\nset $eval_end = {:#x}\n", input.eval, input.eval + input.eval_bytes);
  return text;
}

}  // namespace

std::string injected_code() {
  // "modules" at 0 and "r" at 8 are C strings of their own; the script begins at 16.
  std::string bytes("modules\0r\0\0\0\0\0\0\0", 16);
  bytes += code;
  bytes += '\0';
  return bytes;
}

std::string legacy_registers() {
  const auto registers = [](std::initializer_list<std::string_view> names,
                            std::string_view bits,
                            std::string_view type) {
    std::string text;
    for (const auto name : names) {
      text += fmt::format(R"(<reg name="{}" bitsize="{}" type="{}"/>)", name, bits, type);
    }
    return text;
  };
  const auto numbered = [&](std::string_view name, int first, int last, std::string_view form) {
    std::string text;
    for (int i = first; i <= last; ++i) {
      text += fmt::format(R"(<reg name="{}{}" {}/>)", name, i, form);
    }
    return text;
  };
  std::string xml = R"(<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target>)"
                    R"(<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>)"
                    R"(<feature name="org.gnu.gdb.i386.core">)";
  xml += registers({"rax", "rbx", "rcx", "rdx", "rsi", "rdi"}, "64", "int64");
  xml += registers({"rbp", "rsp"}, "64", "data_ptr");
  xml += numbered("r", 8, 15, R"(bitsize="64" type="int64")");
  xml += registers({"rip"}, "64", "code_ptr");
  xml += registers({"eflags", "cs", "ss", "ds", "es", "fs", "gs"}, "32", "int32");
  xml += numbered("st", 0, 7, R"(bitsize="80" type="i387_ext")");
  xml +=
      registers({"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"}, "32", "int");
  xml +=
      R"(</feature><feature name="org.gnu.gdb.i386.sse"><vector id="v2" type="uint64" count="2"/>)";
  xml += numbered("xmm", 0, 15, R"(bitsize="128" type="v2")");
  xml += registers({"mxcsr"}, "32", "int32");
  xml += R"(</feature><feature name="org.gnu.gdb.i386.linux">)";
  xml += registers({"orig_rax"}, "64", "int64");
  xml += R"(</feature><feature name="org.gnu.gdb.i386.segments">)";
  xml += registers({"fs_base", "gs_base"}, "64", "int64");
  return xml + "</feature></target>";
}

std::string gdb_script(const GdbScriptInput& input) {
  std::string text(settings);
  if (input.registers == Registers::legacy) {
    text += fmt::format("set tdesc filename /proc/self/fd/{}\n", gdb_protocol::registers_fd);
  }
  text += variables(input);
  for (const auto part : {waits_command, lock_commands, run_command, work_command, main_part}) {
    text += part;
  }
  replace_all(text, "@PID@", std::to_string(input.pid));
  replace_all(text, "@LENGTH@", std::to_string(injected_code().size()));
  replace_all(text, "@LIMIT@", std::to_string(largest_gdb_answer));
  replace_all(text, "@CODE@", fmt::format("/proc/self/fd/{}", gdb_protocol::code_fd));
  replace_all(text, "@ANSWER@", fmt::format("/proc/self/fd/{}", gdb_protocol::answer_fd));
  replace_all(
      text, "@GATE@", fmt::format("read word <&{} && test \"$word\" = go", gdb_protocol::gate_fd));
  return text;
}

}  // namespace tracso::python
