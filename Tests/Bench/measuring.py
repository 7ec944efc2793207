"""Functions that the benchmarks share: making inputs, measuring commands, and printing comparisons."""

import os
import shutil
import statistics
import subprocess
import sys
import time
from typing import NamedTuple, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../Oracles"), os.path.join(HERE, "../Fixtures")]
import packages  # noqa: E402

# The folder of inputs and outputs, relative to the repository.
FOLDER = ".build/bench"
# The default number of runs of each command.
RUNS = 5
ENVIRONMENT = FOLDER + "/venv"

programs = None


def begin(folder):
    """Makes the repository the current folder and measures the programs in `folder`, by default the release build."""
    global programs
    programs = os.path.abspath(folder) if folder else os.path.join(packages.ROOT, ".build/release")
    os.chdir(packages.ROOT)
    os.makedirs(FOLDER, exist_ok=True)
    if not os.access(program("pingferry"), os.X_OK):
        sys.exit("bench: %s is not a program\nhint: run make build, or use --programs" % program("pingferry"))


def program(name):
    """Returns the path of a built program."""
    return os.path.join(programs, name)


def pingferry(command, *arguments, output=None):
    """Returns a command line of `pingferry` that uses two cores and replaces `output`."""
    destination = ["--force", "-o", output] if output else []
    return [program("pingferry"), command, "--quiet", "--jobs", "2", *destination, *arguments]


def python_with(*requirements):
    """Returns a Python interpreter that can import the packages `requirements`."""
    failure = packages.install(*requirements, environment=ENVIRONMENT)
    if failure:
        sys.exit("bench: " + failure)
    return packages.python(ENVIRONMENT)


# Inputs

def make_once(path, build):
    """Calls `build` to make the input at `path`, unless it exists. An interrupted `build` leaves nothing at `path`."""
    if not os.path.exists(path):
        part = path + ".part"
        remove(part)
        build(part)
        os.rename(part, path)
    return path


def run_script(script, *arguments):
    """Runs a Python script of the repository."""
    subprocess.run([sys.executable, script, *arguments], check=True, stdout=subprocess.DEVNULL)


def load(name="load", containers=1250, pings=100_000):
    """Makes a capture with many ping files, and returns its path."""
    return make_once("%s/%s" % (FOLDER, name), lambda path: run_script(
        "Tests/Load/make_load.py", path, "--containers", str(containers), "--pings", str(pings)))


def remove(path):
    """Removes a file or folder, if it exists."""
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def size(path):
    """Returns the size of a file, or the total size of the files in a folder, in bytes."""
    if os.path.isdir(path):
        return sum(entry.stat().st_size for entry in os.scandir(path))
    return os.path.getsize(path)


# Measurements

class Measurement(NamedTuple):
    """The elapsed time and the processor time of all cores, in seconds, and the largest resident size of a process, in bytes.

    `memory` is never less than the size of the Python process that starts the command, about 18 MB.
    """
    clock: float
    processor: float
    memory: float


class Limit(NamedTuple):
    """The maximum ratios of the times to those of the first command, and the maximum memory in bytes. `None` is no limit."""
    clock: Optional[float] = None
    processor: Optional[float] = None
    memory: Optional[float] = None


def measure(command):
    """Runs a command and measures it. Its output is discarded."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    clock = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Measurement(clock, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def in_turns(commands, runs=RUNS, measure=measure):
    """Measures each command several times. Returns lists of measurements by name.

    The commands take turns, so that a change in the load of the machine affects all of them.
    """
    measured = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            measured[name].append(measure(command))
    return measured


def best(measurements):
    """Combines the measurements of one command: the least times, and the median of the peak memory."""
    clock, processor, memory = zip(*measurements)
    return Measurement(min(clock), min(processor), statistics.median(memory))


def compare(title, commands, limits={}, goals={}, runs=RUNS, outputs={}):
    """Measures commands in turns and prints a row for each, with its ratios to the first one.

    A row is followed by lines that state which of its `limits` are exceeded and which of its `goals` are missed. If the command
    is in `outputs`, the size of that file or folder is printed. Returns whether all limits were kept.
    """
    rows = {name: best(measurements) for name, measurements in in_turns(commands, runs).items()}
    base, kept = next(iter(rows.values())), True
    print("%-30s %9s %8s %9s %8s %9s" % (title, "clock s", "times", "cores s", "times", "peak MB"))
    for name, row in rows.items():
        output = "   %.1f MB of output" % (size(outputs[name]) / 1e6) if name in outputs else ""
        print("%-30s %9.2f %8.2f %9.2f %8.2f %9.1f%s" % (
            name, row.clock, row.clock / base.clock, row.processor, row.processor / base.processor, row.memory / 1e6, output))
        exceeded = list(excesses(row, base, limits.get(name, Limit())))
        for bound in exceeded:
            print("    more than the limit of " + bound)
        for bound in [] if exceeded else excesses(row, base, goals.get(name, Limit())):
            print("    more than the goal of " + bound)
        kept = kept and not exceeded
    print(flush=True)
    return kept


def excesses(row, base, limit):
    """Yields a description of each bound in `limit` that a measurement exceeds."""
    for field, unit in (("clock", "elapsed time"), ("processor", "processor time")):
        ratio = getattr(limit, field)
        if ratio is not None and getattr(row, field) > ratio * getattr(base, field):
            yield "%.2f times the %s" % (ratio, unit)
    if limit.memory is not None and row.memory > limit.memory:
        yield "%.0f MB of memory" % (limit.memory / 1e6)
