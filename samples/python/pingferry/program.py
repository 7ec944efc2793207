"""Runs `pingferry` with limits on time, memory and output. Does not depend on Spark.

The output of the program is written to unnamed files, which the system removes when this process ends, however it ends. The output
is used only after the program has ended, so that a program that fails, hangs, or writes endlessly uses no more than its limits.
"""

from __future__ import annotations

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
# The maximum number of bytes and lines that are kept of the end of a program's standard error.
MAX_ERROR_BYTES = 16 * 1024
MAX_ERROR_LINES = 50
# The time, in seconds, to wait for the end of a killed program. A program that waits for an unreachable network drive does not end.
KILL_TIMEOUT = 30

# The paths at which pip installs the program, relative to the folder of this module: with --target, and in a virtual environment, for a
# user or for the system, where the module is in PREFIX/lib/python3.11/site-packages/pingferry.
SCRIPTS = ["../bin/pingferry", "../../../../bin/pingferry"]

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one run of the program."""

    seconds: float = 600
    # The address space in bytes, of which the program itself needs about 150 MiB.
    memory: int = 1024 * MIB
    # The size of the output, and of each file that the program creates, in bytes.
    output: int = 8192 * MIB


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a run."""

    # The exit status, or None if the program was killed or could not be started.
    status: int | None
    # Why there is no exit status, or why the output is incomplete in spite of the exit status; otherwise None.
    reason: str | None
    # The last lines of standard error.
    error_lines: list[str]
    seconds: float = 0.0


def program_path(name=None):
    """Returns the path of the program on this machine, or None if it does not exist.

    The program is `name`, by default the environment variable PINGFERRY, by default the program of the wheel that contains this module,
    by default `pingferry` in the search path.
    """
    given = name or os.environ.get("PINGFERRY")
    installed = [os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), path)) for path in SCRIPTS]
    candidates = [given] if given else [*installed, "pingferry"]
    return next(filter(None, map(shutil.which, candidates)), None)


@contextlib.contextmanager
def running(command, limits):
    """Runs a program until it ends, and yields its result and a file with its output.

        with running(["pingferry", "convert", "-o", "-", "phone"], Limits(seconds=60)) as (result, output):
            lines = output.readlines() if result.status == 0 else []

    Raises OSError if no file can be created or the program cannot be started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        result = run(command, limits, output, errors)
        output.seek(0)
        yield result, output


def run(command, limits, output, errors):
    """Runs a program in a new process group. Kills the group when the program has ended, or at the time limit."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True,
        preexec_fn=limit_setter(limits, os.getpid()))
    watch = os.pidfd_open(process.pid)
    in_time = False
    try:
        in_time = has_ended(watch, limits.seconds)
    finally:
        # The process id cannot be reused yet, because wait() was not called.
        os.killpg(process.pid, signal.SIGKILL)
        is_dead = in_time or has_ended(watch, KILL_TIMEOUT)
        os.close(watch)
    status = process.wait() if is_dead else None
    return Result(
        status if in_time and status >= 0 else None, reason(in_time, is_dead, status, limits, output), last_lines(errors),
        time.monotonic() - start)


def limit_setter(limits, parent):
    """Returns a function that sets the limits in the new process before the program starts."""
    bounds = [
        (kind, allowed_limit(kind, number))
        for kind, number in (
            (resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_FSIZE, limits.output), (resource.RLIMIT_CORE, 0))]

    def limit():
        # The program is killed when the worker ends. If the worker has already ended, there would be no signal.
        if LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0 or os.getppid() != parent:
            os._exit(127)
        for kind, number in bounds:
            resource.setrlimit(kind, (number, number))

    return limit


def allowed_limit(kind, number):
    """Returns `number`, or the current hard limit if that is lower, because only root may exceed it."""
    hard = resource.getrlimit(kind)[1]
    return number if hard == resource.RLIM_INFINITY else min(number, hard)


def has_ended(watch, seconds):
    """Returns whether the process of a file descriptor ends within `seconds`."""
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def reason(in_time, is_dead, status, limits, output):
    """Returns why a run was stopped or its output is incomplete, or None if the exit status is sufficient."""
    if not in_time:
        more = "" if is_dead else "; the killed process does not end, which an unreachable network drive can cause"
        return f"stopped at the time limit of {limits.seconds:g} s (option timeout){more}"
    if os.fstat(output.fileno()).st_size >= limits.output:
        return f"wrote more than {limits.output // MIB} MiB (option spool)"
    if status < 0:
        memory = f"{limits.memory // MIB} MiB of memory (option memory)"
        return f"ended by signal {-status} ({signal_name(-status)}) with a limit of {memory}"
    return None


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def last_lines(file):
    """Returns the last lines of a file that are not blank, with unprintable characters escaped."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - MAX_ERROR_BYTES)
    file.seek(start)
    lines = file.read(MAX_ERROR_BYTES).decode("utf-8", "replace").split("\n")
    if start > 0:
        lines[0] = "…" + lines[0]
    return [printable(line) for line in lines if line.strip()][-MAX_ERROR_LINES:]


def printable(text):
    """Returns a string in which unprintable characters and surrogates are replaced by escapes such as `\\x1b`."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
