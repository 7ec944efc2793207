"""Measures the parsers alone: JSON in comparison with Foundation and simdjson, and keyed archives with libplist and nska_deserialize."""

import os
import plistlib
import shutil
import subprocess
import tempfile

import measuring
from measuring import FOLDER, program
from unpack import unpack

# Prints the bytes per second of processor time that nska_deserialize reads.
DESERIALIZE = """
import io, sys, time, nska_deserialize
data = open(sys.argv[1], "rb").read()
start = time.process_time()
nska_deserialize.deserialize_plist(io.BytesIO(data))
print(len(data) / (time.process_time() - start))
"""


# The rate of parsing JSON, relative to simdjson, and the number of files that are parsed.
JSON_GOAL, JSON_LIMIT, JSON_FILES = 0.5, 0.25, 2000


def run():
    bench = program("pingferry-bench")
    return all([subprocess.run([bench]).returncode == 0, json_files(bench), archives(bench)])


def json_files(bench):
    """Compares parsing ping files with the document tree of simdjson."""
    folder = measuring.make_once(FOLDER + "/ping-files", copy_ping_files)
    reference = FOLDER + "/simdjson"
    subprocess.run(["g++", "-O3", "-std=c++17", "-o", reference, "Tests/Load/simdjson.cpp", "-lsimdjson"], check=True)
    rates = measuring.in_turns({"ours": [bench, folder], "theirs": [reference, folder]}, measure=lambda command: printed_numbers(command)[0])
    ours, theirs = (max(rates[name]) for name in ("ours", "theirs"))
    print("ping files: %.0f MB/s, simdjson %.0f MB/s, %.2f times" % (ours / 1e6, theirs / 1e6, ours / theirs), flush=True)
    if ours < JSON_GOAL * theirs:
        print("    less than %s" % ("the goal of %.2f" % JSON_GOAL if ours >= JSON_LIMIT * theirs else "the limit of %.2f" % JSON_LIMIT))
    return ours >= JSON_LIMIT * theirs


def copy_ping_files(folder):
    """Copies ping files of the benchmark for folders."""
    os.mkdir(folder)
    paths = (os.path.join(parent, name) for parent, _, names in os.walk(measuring.load()) for name in names if name.endswith(".json"))
    for number, path in zip(range(JSON_FILES), paths):
        shutil.copy(path, os.path.join(folder, str(number)))


def archives(bench):
    """Compares converting a queue of 40 MB to list requests with other readers of its format, which only make a tree."""
    large, small = queue("archives", 10000), queue("archives-small", 200)
    megabytes = measuring.size(large) / 1e6
    measured = measuring.in_turns({
        "libplist's tree": [libplist(), large],
        "list requests, 1 core": [bench, large, "1"],
        "list requests, 2 cores": [bench, large, "2"]}, runs=10, measure=printed_numbers)
    print("%-24s %16s %10s %16s %10s" % ("%.1f MB of queue" % megabytes, "processor MB/s", "times", "clock MB/s", "times"))
    base = None
    for name, runs in measured.items():
        row = [min(column) for column in zip(*runs)]
        base = base or row
        columns = [value for ours, theirs in zip(row, base) for value in (megabytes / ours, theirs / ours)]
        print("%-24s %16.0f %10.2f %16.0f %10.2f" % (name, *columns))
    python = measuring.python_with("nska_deserialize")
    rate, = printed_numbers([python, "-c", DESERIALIZE, small])
    print("nska_deserialize %.2f MB/s (of %.1f MB)" % (rate / 1e6, measuring.size(small) / 1e6), flush=True)
    return subprocess.run([bench, large]).returncode == 0


def queue(name, events):
    """Makes a Sift queue whose events contain the full state of the app, and returns the path of its archive."""
    return measuring.make_once(FOLDER + "/" + name, lambda path: make_queue(path, events))


def make_queue(path, events):
    """Writes an archive with the events of a small queue, which are repeated with other numbers until there are `events`."""
    with tempfile.TemporaryDirectory() as folder:
        unpack("sift", folder)
        with open(folder + "/gen4-2.1.0/Library/Caches/sift-v0_0_1/queues/sift-default", "rb") as stream:
            archive = plistlib.load(stream)
    objects = archive["$objects"]
    root = objects[archive["$top"]["root"].data]
    position = next(place for key, place in zip(root["NS.keys"], root["NS.objects"]) if objects[key.data] == "queue")
    queue = objects[position.data]
    small, originals = list(queue["NS.objects"]), list(objects)
    # Copies of an event share classes and strings with the original.
    copied = [index for index, item in enumerate(originals) if not isinstance(item, str) and item not in (root, queue)
              and not (isinstance(item, dict) and "$classname" in item)]
    for number in range(1, events // len(small)):
        places = {index: plistlib.UID(len(objects) + count) for count, index in enumerate(copied)}
        objects += [changed(originals[index], places, number) for index in copied]
        queue["NS.objects"] += changed(small, places, number)
    with open(path, "wb") as stream:
        plistlib.dump(archive, stream, fmt=plistlib.FMT_BINARY, sort_keys=False)


def changed(value, places, number):
    """Returns a copy of a value in an archive with references to the new places of objects, and adds `number` to its numbers."""
    if isinstance(value, plistlib.UID):
        return places.get(value.data, value)
    if isinstance(value, dict):
        return {key: changed(member, places, number) for key, member in value.items()}
    if isinstance(value, list):
        return [changed(member, places, number) for member in value]
    return value if isinstance(value, (bool, str)) else value + number


def libplist():
    """Compiles a program that parses a property list with libplist, and returns its path."""
    path = FOLDER + "/libplist"
    subprocess.run(["gcc", "-O2", "-o", path, "Tests/Load/libplist.c", "-lplist-2.0"], check=True)
    return path


def printed_numbers(command):
    """Returns the numbers that a command prints."""
    return tuple(map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split()))
