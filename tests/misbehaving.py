"""Solvers and problems that do in earnest what a comparison must survive.

Imported by child processes only: ``Request(modules=("tests/misbehaving.py",))``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from optiframe import Iterate, Iterates, Minimize, Run, Solver, Status, Unsuited, register
from optiframe.problems.objectives.objective import SquaredDistance


class _Misbehaving(Solver[Minimize, Any, None]):
    """Does something in place of its second step, so that a warm-up of one step passes."""

    solves = Minimize

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = problem.initial() + 0.5
        yield Iterate(x)
        yield Iterate(self.act(x, problem))

    def act(self, x: Any, problem: Minimize) -> Any:
        return x


@register
class Honest(_Misbehaving):
    """Takes the gradient three times, and gets there."""

    name = "mis.honest"
    seconds: float = 0.0

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = problem.initial()
        for _ in range(3):
            time.sleep(self.seconds / 3)
            x = x - 0.5 * problem.function.gradient(x)
            yield Iterate(x)


@register
class Raises(_Misbehaving):
    """Raises."""

    name = "mis.raises"

    def act(self, x: Any, problem: Minimize) -> Any:
        raise ZeroDivisionError("the step became zero")


@register
class RaisesEscapes(_Misbehaving):
    """Raises with words that drive a terminal."""

    name = "mis.raises-escapes"

    def act(self, x: Any, problem: Minimize) -> Any:
        print("\x1b[2Jcleared", file=sys.stderr)
        raise ValueError("\x1b]0;a title\x07 and \u202eturned")


class _LeavesAReply(_Misbehaving):
    """Puts something else where its reply is expected, and ends."""

    def act(self, x: Any, problem: Minimize) -> Any:
        reply = own_folder() / "outcome.json"
        self.put(reply)
        os._exit(0)

    def put(self, reply: Path) -> None:
        raise NotImplementedError


def own_folder() -> Path:
    """The folder that this process shares with who watches it: stacks go there."""
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            target = link.readlink()
            if target.name == "stacks.txt":
                return target.parent
    raise FileNotFoundError("no folder of this cell is open")


@register
class RepliesByPipe(_LeavesAReply):
    """A pipe that nobody writes to."""

    name = "mis.replies-by-pipe"

    def put(self, reply: Path) -> None:
        os.mkfifo(reply)


@register
class RepliesWithoutEnd(_LeavesAReply):
    """A link to a device that never ends."""

    name = "mis.replies-without-end"

    def put(self, reply: Path) -> None:
        reply.symlink_to("/dev/zero")


@register
class PatchesClocks(_Misbehaving):
    """Makes its clocks run a million times too fast."""

    name = "mis.patches-clocks"

    def act(self, x: Any, problem: Minimize) -> Any:
        right = time.perf_counter
        for module in list(sys.modules.values()):
            if getattr(module, "perf_counter", None) is right:
                module.perf_counter = lambda: 1e6 * right()  # type: ignore[attr-defined]
        return x


@register
class TruncatesTheBoard(_Misbehaving):
    """Cuts off the file through which it says where it is, and goes on."""

    name = "mis.truncates-the-board"

    def act(self, x: Any, problem: Minimize) -> Any:
        for file in own_folder().iterdir():
            os.truncate(file, 0)
        time.sleep(1.0)
        return x


@register
class AnswersComplex(_Misbehaving):
    """Its answer has an imaginary part."""

    name = "mis.answers-complex"

    def act(self, x: Any, problem: Minimize) -> Any:
        return x + 1j


@register
class Leaves(_Misbehaving):
    """Calls sys.exit."""

    name = "mis.leaves"

    def act(self, x: Any, problem: Minimize) -> Any:
        sys.exit(0)


@register
class FailsToWarmUp(_Misbehaving):
    """Raises before its first iterate."""

    name = "mis.fails-at-once"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        raise OSError("the library is not there")
        yield


@register
class Busy(_Misbehaving):
    """Never comes back, and calculates, once it has waited for as long as nobody looks."""

    name = "mis.busy"
    waits: float = 0.0

    def act(self, x: Any, problem: Minimize) -> Any:
        time.sleep(self.waits)
        while True:
            x = x + 0.0


@register
class Sleeps(_Misbehaving):
    """Never comes back, and waits."""

    name = "mis.sleeps"
    first: float = 0.0

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        time.sleep(self.first)
        yield from super().iterates(problem, run)

    def act(self, x: Any, problem: Minimize) -> Any:
        time.sleep(3600)


@register
class Stubborn(_Misbehaving):
    """Never comes back, and cannot be asked to."""

    name = "mis.stubborn"

    def act(self, x: Any, problem: Minimize) -> Any:
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)


@register
class HangsInC(_Misbehaving):
    """Hangs in C code that holds the interpreter lock."""

    name = "mis.hangs-in-c"

    def act(self, x: Any, problem: Minimize) -> Any:
        ctypes.PyDLL(None).sleep(3600)


@register
class Segfaults(_Misbehaving):
    """Reads where nothing is."""

    name = "mis.segfaults"

    def act(self, x: Any, problem: Minimize) -> Any:
        ctypes.string_at(0)


@register
class Exits(_Misbehaving):
    """Ends the process as if all were well."""

    name = "mis.exits"

    def act(self, x: Any, problem: Minimize) -> Any:
        os._exit(0)


@register
class CountsWithoutEnd(_Misbehaving):
    """Says of one step that it was more than any store has room for."""

    name = "mis.counts-without-end"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        yield Iterate(problem.initial(), steps=10**30)


@register
class Cancels(_Misbehaving):
    """Says what only the user can."""

    name = "mis.cancels"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        yield Iterate(problem.initial())
        return Status.CANCELLED, "enough"


@register
class FindsNoPoint(_Misbehaving):
    """Ends at its limit before it has any point, as a library may."""

    name = "mis.finds-no-point"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return Status.TIME_LIMIT, "no point was found in time"
        yield


@register
class FindsOut(_Misbehaving):
    """Finds out that the problem does not suit when it has begun."""

    name = "mis.finds-out"
    late: bool = False

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        if not self.late:
            raise Unsuited("its matrix is singular")
        yield from super().iterates(problem, run)

    def act(self, x: Any, problem: Minimize) -> Any:
        raise Unsuited("it was suited a moment ago")


@register
class OddText(_Misbehaving):
    """Raises with a file name that is no text."""

    name = "mis.odd-text"

    def act(self, x: Any, problem: Minimize) -> Any:
        raise ValueError("bad file \udcff name")


@register
class CannotWrite(_Misbehaving):
    """Leaves no room for any file."""

    name = "mis.cannot-write"

    def act(self, x: Any, problem: Minimize) -> Any:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        return x


@register
class Hoards(_Misbehaving):
    """Takes more and more memory in small pieces, and writes to all of it."""

    name = "mis.hoards"
    piece: int = 10_000_000

    def act(self, x: Any, problem: Minimize) -> Any:
        kept = []
        while True:
            kept.append(bytearray(os.urandom(1)) * self.piece)


@register
class HoardsByMapping(_Misbehaving):
    """Takes memory that no bound on private data counts: a shared mapping."""

    name = "mis.hoards-by-mapping"

    def act(self, x: Any, problem: Minimize) -> Any:
        import mmap

        kept = []
        while True:
            kept.append(mmap.mmap(-1, 20_000_000))
            kept[-1].write(b"x" * 20_000_000)
            time.sleep(0.01)


@register
class HoardsInSharedFiles(_Misbehaving):
    """Fills a file in shared memory, and dies before it removes the one that it has mapped."""

    name = "mis.hoards-in-shared-files"
    bytes: int = 10**9
    dies: bool = False

    def act(self, x: Any, problem: Minimize) -> Any:
        from multiprocessing import shared_memory

        small = shared_memory.SharedMemory(name=f"mis-small-{self.bytes}", create=True, size=1000)
        with open(f"/dev/shm/mis-large-{self.bytes}", "wb") as file:
            for _ in range(self.bytes // 10**7):
                file.write(b"x" * 10**7)
                file.flush()
                time.sleep(0.01)
            time.sleep(0.2)
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        small.unlink()
        return x


@register
class HoardsWithoutAName(_Misbehaving):
    """Fills a file in memory that no folder names: one that never had a name, or one that was deleted."""

    name = "mis.hoards-without-a-name"
    deletes: bool = False

    def act(self, x: Any, problem: Minimize) -> Any:
        if self.deletes:
            name = f"/dev/shm/mis-deleted-{os.getpid()}"
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT)
            os.unlink(name)
        else:
            descriptor = os.memfd_create("mis")
        while True:
            os.write(descriptor, b"x" * 10**7)
            time.sleep(0.01)


@register
class LeavesASegment(_Misbehaving):
    """Leaves what nobody else removes: shared memory of System V, and a semaphore."""

    name = "mis.leaves-a-segment"
    size: int = 2 * 10**7

    def act(self, x: Any, problem: Minimize) -> Any:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        number = libc.shmget(0, self.size, 0o1600)
        address = ctypes.c_void_p(libc.shmat(number, None, 0))
        ctypes.memset(address, 1, self.size)
        libc.shmdt(address)
        libc.sem_open(b"/mis-semaphore", os.O_CREAT, 0o600, 1)
        print(number, file=sys.stderr, flush=True)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)


@register
class Fostering(_Misbehaving):
    """Has its memory in a process of its own."""

    name = "mis.fostering"

    def act(self, x: Any, problem: Minimize) -> Any:
        code = "import time; kept = bytearray(b'x') * 400_000_000; time.sleep(3600)"
        subprocess.run([sys.executable, "-c", code], check=False)


@register
class Floods(_Misbehaving):
    """Writes a gigabyte to standard output."""

    name = "mis.floods"

    def act(self, x: Any, problem: Minimize) -> Any:
        line = b"no end of words\n" * 65536
        for _ in range(1024):
            os.write(1, line)
        sys.stderr.write("and a last word")
        return x


@register
class LeavesAChild(_Misbehaving):
    """Starts a process that outlives it, and ends well."""

    name = "mis.leaves-a-child"
    pids: str
    new_session: bool = False
    waits: bool = False

    def act(self, x: Any, problem: Minimize) -> Any:
        grandchild = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=self.new_session
        )
        partial = Path(f"{self.pids}.part")
        partial.write_text(f"{os.getpid()} {grandchild.pid}")
        partial.rename(self.pids)
        if self.waits:
            time.sleep(3600)
        return x


@register
class LeavesADaemon(_Misbehaving):
    """Forks twice, so that what is left is nobody's child and in no known session."""

    name = "mis.leaves-a-daemon"
    pids: str

    def act(self, x: Any, problem: Minimize) -> Any:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                Path(self.pids).write_text(str(os.getpid()))
                time.sleep(3600)
            os._exit(0)
        os.wait()
        while not Path(self.pids).exists():
            time.sleep(0.01)
        return x


@register
class LeavesFiles(_Misbehaving):
    """Writes a temporary file, and ends the process before it is removed."""

    name = "mis.leaves-files"

    def act(self, x: Any, problem: Minimize) -> Any:
        _, name = tempfile.mkstemp(prefix="litter-")
        print(name, file=sys.stderr, flush=True)
        os._exit(3)


@register
class HidesAHelper(_Misbehaving):
    """Starts a helper in a session of its own, with nothing in its environment."""

    name = "mis.hides-a-helper"
    pids: str

    def act(self, x: Any, problem: Minimize) -> Any:
        sleeper = [sys.executable, "-c", "import time; time.sleep(3600)"]
        helper = subprocess.Popen(sleeper, env={}, start_new_session=True)
        Path(self.pids).write_text(str(helper.pid))
        return x


@register
class KillsItsSupervisor(HidesAHelper):
    """Does the same, and kills the process that watches it."""

    name = "mis.kills-its-supervisor"

    def act(self, x: Any, problem: Minimize) -> Any:
        super().act(x, problem)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)


@register
class StopsItsSupervisor(HidesAHelper):
    """Starts a helper, stops the process that watches it, and never comes back."""

    name = "mis.stops-its-supervisor"

    def act(self, x: Any, problem: Minimize) -> Any:
        super().act(x, problem)
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(3600)


@register
class LeavesAThread(_Misbehaving):
    """Leaves a thread that would keep the process alive for ever."""

    name = "mis.leaves-a-thread"

    def act(self, x: Any, problem: Minimize) -> Any:
        threading.Thread(target=time.sleep, args=(3600,)).start()
        return x


@register
class WrongShape(_Misbehaving):
    """Answers with a point of another space."""

    name = "mis.wrong-shape"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        yield Iterate(np.zeros(7))


@register
class NotANumber(_Misbehaving):
    """Answers with nan."""

    name = "mis.nan"

    def act(self, x: Any, problem: Minimize) -> Any:
        return x * np.nan


@register
class Fickle(_Misbehaving):
    """Draws from a source of its own: the same seed gives different answers."""

    name = "mis.fickle"

    def act(self, x: Any, problem: Minimize) -> Any:
        return x + np.frombuffer(os.urandom(8 * x.size), dtype=np.uint64).reshape(x.shape) / 2.0**64


@register
class Forges(_Misbehaving):
    """Leaves a reply of its own making and ends the process."""

    name = "mis.forges"

    def act(self, x: Any, problem: Minimize) -> Any:
        frame = sys._getframe()
        while "folder" not in frame.f_locals:  # the child's main function knows it
            assert frame.f_back is not None
            frame = frame.f_back
        Path(frame.f_locals["folder"], "outcome.json").write_text('{"status": "finished", "message": 3}')
        os._exit(0)


@register
class Threads(_Misbehaving):
    """Says how many threads linear algebra, the environment and numba would use."""

    name = "mis.threads"

    def act(self, x: Any, problem: Minimize) -> Any:
        import threadpoolctl

        pools = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
        variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
        print(sorted(pools), [os.environ[name] for name in variables], file=sys.stderr)
        return x


@register
class UnsuitedToAnything(_Misbehaving):
    """Takes no problem."""

    name = "mis.unsuited"

    def unsuited(self, problem: Minimize) -> str | None:
        return "it wants more than three unknowns"


@register
class Explodes(SquaredDistance):
    """An objective that cannot be loaded."""

    name = "mis.explodes"

    @classmethod
    def load(cls, **inputs: Any) -> Any:
        raise RuntimeError("the sensor is offline")


@register
class Detonates(SquaredDistance):
    """An objective that kills the process that loads it."""

    name = "mis.detonates"

    @classmethod
    def load(cls, **inputs: Any) -> Any:
        os.kill(os.getpid(), signal.SIGBUS)


@register
class ChangesTheData(_Misbehaving):
    """Moves the data, which only reading is allowed of, to where its answer is the best."""

    name = "mis.changes-the-data"

    def act(self, x: Any, problem: Minimize) -> Any:
        point = problem.function.to  # type: ignore[attr-defined]  # it knows too much, being bad
        ctypes.memmove(point.ctypes.data, x.ctypes.data, point.nbytes)
        return x


@register
class PatchesTheObjective(_Misbehaving):
    """Has the objective say that its answer is better than any."""

    name = "mis.patches-the-objective"

    def act(self, x: Any, problem: Minimize) -> Any:
        SquaredDistance.value = lambda self, x: -1e6  # type: ignore[method-assign]
        return x


class _Loaded(np.ndarray):
    """An array that runs a command where it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, (f"touch {os.environ['MIS_TOUCHED']}",)


@register
class AnswersWithCode(_Misbehaving):
    """Its answer is a command, for who reads it."""

    name = "mis.answers-with-code"
    touched: str

    def act(self, x: Any, problem: Minimize) -> Any:
        os.environ["MIS_TOUCHED"] = self.touched
        return x.view(_Loaded)


@register
class TakesBackItsAnswer(_Misbehaving):
    """Says what it is worth, and leaves no answer."""

    name = "mis.takes-back-its-answer"

    def act(self, x: Any, problem: Minimize) -> Any:
        from optiframe.comparison.run import answers

        answers._write = lambda *given: None
        return x


@register
class SlowToLoad(SquaredDistance):
    """An objective that takes as many seconds to load as its first number says."""

    name = "mis.slow-to-load"

    @classmethod
    def load(cls, to: Any, **inputs: Any) -> Any:
        time.sleep(to[0])
        return cls(to=to)


@register
class AnotherEachTime(SquaredDistance):
    """An objective that draws its centre from a source of its own."""

    name = "mis.another-each-time"

    @classmethod
    def load(cls, **inputs: Any) -> Any:
        return cls(to=np.frombuffer(os.urandom(16), dtype=np.uint64) / 2.0**64)
