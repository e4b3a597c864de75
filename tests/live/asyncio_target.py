"""Tasks of asyncio, each waiting in its own way, in loops of two threads. Told to by a line, it says which
tasks there are and in which line of which function each coroutine of them waits, innermost first."""
import asyncio
import gc
import sys
import threading
import time


async def leaf():
    await asyncio.sleep(1000)


async def middle():
    await leaf()


class Service:
    async def top(self):
        await middle()


async def on_task(other):
    await other


async def gathers():
    await asyncio.gather(asyncio.sleep(1000), leaf())


async def numbers():
    yield 1
    await leaf()
    yield 2


async def in_generator():
    async for _ in numbers():
        pass


async def in_context(lock):
    async with lock:
        await asyncio.sleep(1000)


class Named(asyncio.Task):
    """A task of a derived class."""


async def finished():
    return 1


def task(coroutine, name):
    made = asyncio.get_running_loop().create_task(coroutine)
    made.set_name(name)
    return made


kept = []
loops = []


async def main():
    lock = asyncio.Lock()
    await lock.acquire()
    service = task(Service().top(), "service")
    kept.extend([service, task(on_task(service), "waiter"), task(gathers(), "gathers"),
                 task(in_generator(), "in generator"), task(in_context(lock), "in context"),
                 task(leaf(), "caf\u00e9 \u4efb"), asyncio.get_running_loop().create_task(leaf()),
                 Named(leaf(), name="derived"), task(finished(), "finished")])
    loops.append(asyncio.get_running_loop())
    await asyncio.Event().wait()


async def other():
    loops.append(asyncio.get_running_loop())
    await asyncio.sleep(1000)


def chain(awaited):
    frames = []
    while awaited is not None:
        if hasattr(awaited, "cr_frame"):
            frame, awaited = awaited.cr_frame, awaited.cr_await
        elif hasattr(awaited, "ag_frame"):
            frame, awaited = awaited.ag_frame, awaited.ag_await
        elif type(awaited).__name__ == "async_generator_asend":
            awaited = next(one for one in gc.get_referents(awaited) if hasattr(one, "ag_frame"))
            continue
        else:
            break
        frames.append("%s:%d %s" % (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
    return frames[::-1]


def tell():
    while len(loops) < 2:
        time.sleep(0.01)
    time.sleep(0.5)
    print("ready", flush=True)
    sys.stdin.readline()
    for loop in loops:
        for one in asyncio.all_tasks(loop):
            print("task %d %s" % (loops.index(loop), one.get_name()))
            for line in chain(one.get_coro()):
                print(line)
    print("end", flush=True)


threading.Thread(target=tell, daemon=True).start()
threading.Thread(target=lambda: asyncio.run(other()), daemon=True).start()
asyncio.run(main())
