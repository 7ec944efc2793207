"""Runs `pingferry` under limits of time, memory and output. Knows nothing of Spark.

What the program writes goes to nameless files, which the system removes however this process ends. So nothing of a capture is
handed on before all of it was read, and a program that fails, hangs or writes without end costs no more than its limits.
"""

import contextlib
import ctypes
import dataclasses
import os
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time

MIB = 1 << 20
# How much of what a program says last is kept.
MOST_SAID = 16 * 1024
MOST_LINES = 50
# How long a killed program may take to be gone: one that waits for a dead network drive does not go.
SECONDS_TO_DIE = 30

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one run of the program may take."""

    seconds: float = 600
    # Of address space. The program itself needs about 150 MiB of it.
    memory: int = 1024 * MIB
    # Of output, and of each file that the program makes itself.
    output: int = 8192 * MIB


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a run ended."""

    # The status that the program ended with; None if it did not end by itself, or never began.
    status: int | None
    # Why it has no status, or why the status means no good; None where the status says all.
    reason: str | None
    # The last lines of its standard error.
    said: list[str]
    seconds: float = 0.0


def program_path(name=None):
    """Where the program is on this machine: the given one, else that of the environment variable PINGFERRY, else `pingferry` in
    the search path; None if it is not there."""
    return shutil.which(name or os.environ.get("PINGFERRY") or "pingferry")


@contextlib.contextmanager
def running(command, limits):
    """Runs a program to its end and gives how it ended, and a file with what it wrote, read from its beginning.

        with running(["pingferry", "convert", "-o", "-", "phone"], Limits(seconds=60)) as (ending, output):
            lines = output.readlines() if ending.status == 0 else []

    Raises OSError where no file can be made or no process started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        ending = run(command, limits, output, errors)
        output.seek(0)
        yield ending, output


def run(command, limits, output, errors):
    """Runs a program in a process group of its own, and kills the whole group at its end or at that of its time."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True,
        preexec_fn=limiting(limits, os.getpid()))
    watch = os.pidfd_open(process.pid)
    in_time = False
    try:
        in_time = has_ended(watch, limits.seconds)
    finally:
        # The program is not waited for yet, so its number still belongs to it and to its group, and to no other.
        os.killpg(process.pid, signal.SIGKILL)
        gone = in_time or has_ended(watch, SECONDS_TO_DIE)
        os.close(watch)
    status = process.wait() if gone else None
    return Ending(
        status if in_time and status >= 0 else None, reason(in_time, gone, status, limits, output), last_lines(errors),
        time.monotonic() - began)


def limiting(limits, parent):
    """What the new process does before the program begins."""
    bounds = [
        (kind, at_most(kind, number))
        for kind, number in (
            (resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_FSIZE, limits.output), (resource.RLIMIT_CORE, 0))]

    def limit():
        # A worker that dies takes the program with it; one that died already would never be noticed.
        if LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0 or os.getppid() != parent:
            os._exit(127)
        for kind, number in bounds:
            resource.setrlimit(kind, (number, number))

    return limit


def at_most(kind, number):
    """A limit that may be set: nobody but root may exceed the one that holds already."""
    hard = resource.getrlimit(kind)[1]
    return number if hard == resource.RLIM_INFINITY else min(number, hard)


def has_ended(watch, seconds):
    """Whether a process ends within some seconds."""
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def reason(in_time, gone, status, limits, output):
    """Why a run is not as good as its status, in words; None if the status says all."""
    if not in_time:
        left = "" if gone else "; it does not even go when it is killed, as with a dead network drive"
        return f"stopped at the time limit of {limits.seconds:g} s (option timeout){left}"
    if os.fstat(output.fileno()).st_size >= limits.output:
        return f"wrote more than {limits.output // MIB} MiB (option spool)"
    if status < 0:
        return f"ended by signal {-status} ({signal_name(-status)}) under {limits.memory // MIB} MiB of memory (option memory)"
    return None


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def last_lines(file):
    """The last lines of a file that may hold anything, without what could do something to a terminal."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - MOST_SAID)
    file.seek(start)
    lines = file.read(MOST_SAID).decode("utf-8", "replace").split("\n")
    if start > 0:
        lines[0] = "…" + lines[0]
    return [shown(line) for line in lines if line.strip()][-MOST_LINES:]


def shown(text):
    """A text with `\\x1b` in the place of what is no character to look at, and of what is no character at all."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
