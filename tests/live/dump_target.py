"""Ten threads, each blocked in its own way. Told to by a line, it says with faulthandler what it does
itself; "eintr" is printed if a signal or a debugger ever interrupted the wait on the epoll."""
import faulthandler
import os
import select
import socket
import sys
import threading
import time

lock = threading.Lock()
lock.acquire()
empty, _writer = os.pipe()
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()


class Deep:
    def start(self):
        self.down(5)

    def down(self, left):
        if left:
            return self.down(left - 1)
        lock.acquire()


def generator():
    yield time.sleep(1000)


def in_generator():
    for _ in generator():
        pass


def sort_key(_value):
    time.sleep(1000)


def in_sort():
    [2, 1].sort(key=sort_key)


def on_epoll():
    epoll = select.epoll()
    epoll.register(empty, select.EPOLLIN)
    epoll.poll()


def on_accept():
    listener.accept()


def on_read():
    os.read(empty, 1)


def on_select():
    select.select([empty, listener], [], [])


targets = [Deep().start, in_generator, in_sort, on_epoll, on_accept, on_read, on_select,
           Deep().start, lambda: time.sleep(1000)]
for target in targets:
    threading.Thread(target=target, daemon=True).start()


def blocked():
    """All have reached their wait."""
    frames = sys._current_frames()
    names = {frame.f_code.co_name for frame in frames.values()}
    return len(frames) == 10 and not names & {"run", "_bootstrap", "_bootstrap_inner", "start", "__init__"}


def waits():
    """What the kernel says of the other threads: sleeping or not, and how often each has begun to wait."""
    tasks = {}
    for task in os.listdir("/proc/self/task"):
        if int(task) != os.getpid():
            with open("/proc/self/task/" + task + "/status") as status:
                lines = dict(line.split(":", 1) for line in status)
            tasks[task] = (lines["State"].split()[0], lines["voluntary_ctxt_switches"])
    return tasks


def at_rest():
    """However slow the machine: they all wait, and none has begun another wait meanwhile."""
    before = waits()
    time.sleep(0.2)
    return blocked() and before == waits() and all(state == "S" for state, _ in before.values())


while not at_rest():
    pass
print("ready", flush=True)
sys.stdin.readline()
faulthandler.dump_traceback(sys.stdout, all_threads=True)
print("end", flush=True)
sys.stdin.readline()
