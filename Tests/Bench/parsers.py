"""Measures the parsers alone: JSON in comparison with Foundation, and keyed archives with libplist and nska_deserialize."""

import subprocess

import measuring
from measuring import FOLDER, program

# Prints the bytes per second of processor time that nska_deserialize reads.
DESERIALIZE = """
import io, sys, time, nska_deserialize
data = open(sys.argv[1], "rb").read()
start = time.process_time()
nska_deserialize.deserialize_plist(io.BytesIO(data))
print(len(data) / (time.process_time() - start))
"""


def run():
    bench = program("pingferry-bench")
    return subprocess.run([bench]).returncode == 0 and archives(bench)


def archives(bench):
    """Compares converting a queue of 40 MB to list requests with other readers of its format, which only make a tree."""
    large, small = queue("archives", 10000), queue("archives-small", 200)
    megabytes = measuring.size(large) / 1e6
    measured = measuring.in_turns({
        "libplist's tree": [libplist(), large],
        "list requests, 1 core": [bench, large, "1"],
        "list requests, 2 cores": [bench, large, "2"]}, runs=10, measure=printed_seconds)
    print("%-24s %16s %10s %16s %10s" % ("%.1f MB of queue" % megabytes, "processor MB/s", "times", "clock MB/s", "times"))
    base = None
    for name, runs in measured.items():
        row = [min(column) for column in zip(*runs)]
        base = base or row
        columns = [value for ours, theirs in zip(row, base) for value in (megabytes / ours, theirs / ours)]
        print("%-24s %16.0f %10.2f %16.0f %10.2f" % (name, *columns))
    python = measuring.python_with("nska_deserialize")
    rate, = printed_seconds([python, "-c", DESERIALIZE, small])
    print("nska_deserialize %.2f MB/s (of %.1f MB)" % (rate / 1e6, measuring.size(small) / 1e6), flush=True)
    return subprocess.run([bench, large]).returncode == 0


def queue(name, events):
    """Makes a Sift queue whose events contain the full state of the app, and returns the path of its archive."""
    folder = measuring.make_once(FOLDER + "/" + name, lambda path: measuring.run_script(
        "Tests/Fixtures/make_keyed_archives.py", path, "--events", str(events)))
    return folder + "/gen4-2.1.0/Library/Caches/sift-v0_0_1/queues/sift-default"


def libplist():
    """Compiles a program that parses a property list with libplist, and returns its path."""
    path = FOLDER + "/libplist"
    subprocess.run(["gcc", "-O2", "-o", path, "Tests/Load/libplist.c", "-lplist-2.0"], check=True)
    return path


def printed_seconds(command):
    """Returns the numbers that a command prints: processor time and elapsed time in seconds."""
    return tuple(map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split()))
