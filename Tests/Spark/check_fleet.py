"""Runs samples/spark/fleet.py on a cluster of two executors over a fleet of captures, kills one of them, and compares every record
that comes out with those that `pingferry bundle` makes of the same captures on one machine.

    check_fleet.py PROGRAM      with a Python that has PySpark
"""

import collections
import glob
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile

import samples_path
import fleet_captures
import pyarrow.dataset
import pyarrow.parquet
from pingferry_records import canonical_line, labels
from waiting import has_gone, wait_until

MASTER = "local-cluster[2,1,1024]"
SECONDS_A_CAPTURE = 90
MOST_OUTPUT = 256
SECONDS_IN_ALL = 480

# Stands in for the program: for three captures it behaves as badly as a program can, else it is the program.
STAND_IN = r"""#!/bin/bash
for last; do :; done
case "$1 $last" in
    "convert "*/captures/hangs)
        sleep 100000 & echo $! >> "$WORK/hanging"; echo $$ >> "$WORK/hanging"; wait ;;
    "convert "*/captures/endless) exec yes endless ;;
    "convert "*/captures/victim)
        echo $$ >> "$WORK/attempts"
        if mkdir "$WORK/first" 2> /dev/null; then exec sleep 100000; fi ;;
esac
exec "$PROGRAM" "$@"
"""


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        patterns = fleet_captures.make(work, program)
        summary, found = spark_records(work, program, patterns)
        expected = bundle_records(work, program, patterns)
        compare(found, expected)
        alone = each_alone(work, program)
        check_notes(repeated(expected), alone)
        check_summary(summary, len(expected), alone)
        check_processes(work)
    print(f"fleet: {len(found)} records are those of one machine, sha256 {digest(found)}")


# MARK: The cluster


def spark_records(work, program, patterns):
    """The summary, and the lines that Parquet holds."""
    stand_in = os.path.join(work, "stand-in")
    with open(stand_in, "w", encoding="utf-8") as file:
        file.write(STAND_IN.replace("$WORK", work).replace("$PROGRAM", program))
    os.chmod(stand_in, 0o700)
    output, summary, log = (os.path.join(work, name) for name in ("records.parquet", "summary.json", "log"))
    options = {"program": stand_in, "timeout": SECONDS_A_CAPTURE, "spool": MOST_OUTPUT, "segments": 1}
    words = [sys.executable, os.path.join(samples_path.FOLDER, "fleet.py"), "-o", output, "--summary", summary]
    for name, value in options.items():
        words += ["--option", f"{name}={value}"]
    with open(log, "wb") as file:
        job = subprocess.Popen(words + patterns, env=environment(work), stdout=file, stderr=file, start_new_session=True)
    try:
        kill_executor(work, job)
        status = job.wait(SECONDS_IN_ALL)
        assert status == 1, f"the job ended with {status}"
        with open(summary, encoding="utf-8") as file:
            return json.load(file), parquet_lines(output)
    except BaseException:
        with open(log, encoding="utf-8", errors="replace") as file:
            print("".join(file.readlines()[-60:]), file=sys.stderr)
        raise
    finally:
        end(job)


def environment(work):
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "4", "spark.local.dir": os.path.join(work, "local")}
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return {
        **os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": os.path.join(work, "worker"), "PYTHONDONTWRITEBYTECODE": "1",
        "PYSPARK_SUBMIT_ARGS": " ".join(["--master", MASTER, *words, "pyspark-shell"])}


def kill_executor(work, job):
    """Kills the executor that reads the capture of the name, for real, and sees that what it had started ends with it."""
    first = os.path.join(work, "first")
    assert wait_until(lambda: os.path.exists(first) or job.poll() is not None, SECONDS_IN_ALL), "the job does not begin"
    assert job.poll() is None, "the job ended early"
    reading = attempts(work)[0]
    executor = executor_of(reading)
    os.kill(executor, signal.SIGKILL)
    assert wait_until(lambda: has_gone(executor)), "the executor is still there"
    assert wait_until(lambda: has_gone(reading)), "the program outlives its executor"


def attempts(work):
    with open(os.path.join(work, "attempts"), encoding="ascii") as file:
        return [int(line) for line in file]


def executor_of(process):
    """The executor among the ancestors of a process."""
    while process > 1:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            if b"CoarseGrainedExecutorBackend" in file.read():
                return process
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            process = int(file.read().rpartition(")")[2].split()[1])
    raise AssertionError("no executor started it")


def end(job):
    """Ends the job if it runs, with all that it started."""
    try:
        os.killpg(job.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    job.wait()


def parquet_lines(output):
    table = pyarrow.parquet.read_table(output, partitioning=pyarrow.dataset.partitioning(
        pyarrow.schema([(name, pyarrow.string()) for name in ("system", "type", "day")]), flavor="hive"))
    lines = []
    for row in table.to_pylist():
        assert row["day"] == (row["time"] and row["time"][:10]), row
        lines.append(canonical_line(row))
    return lines


# MARK: One machine


def bundle_records(work, program, patterns):
    """The lines of a bundle of all captures that can be read."""
    paths = captures(patterns)
    readable = [(path, label) for path, label in zip(paths, labels(paths)) if not unreadable(path)]
    output = os.path.join(work, "all.tar.zst")
    fleet_captures.bundle(program, output, *(path for path, _ in readable))
    made = subprocess.run([program, "list", "--json", "--", output], check=True, stdout=subprocess.PIPE)
    given = [entry["label"] for entry in json.loads(made.stdout)["inputs"]]
    assert given == [label for _, label in readable], "captures have other names"
    made = subprocess.run([program, "convert", "--quiet", "-o", "-", "--", output], stdout=subprocess.PIPE)
    assert made.returncode in (0, 1), made.returncode
    return made.stdout.decode().split("\n")[:-1]


def captures(patterns):
    return [path for pattern in patterns for path in sorted(glob.glob(pattern), key=os.fsencode)]


def unreadable(path):
    return os.path.basename(path) in fleet_captures.UNREADABLE


def each_alone(work, program):
    """For each capture that can be read, by its name: the status of `convert`, and its lines."""
    made = {}
    for name in os.listdir(os.path.join(work, "captures")):
        if not unreadable(name):
            path = os.path.join(work, "captures", name)
            run = subprocess.run(
                [program, "convert", "--quiet", "-o", "-", "--", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            made[name] = run.returncode, run.stdout.decode().split("\n")[:-1]
    return made


def repeated(lines):
    """On how many lines the note of a repeated id is, by its code."""
    return collections.Counter(
        code for line in lines for code in {note.split()[0] for note in json.loads(line)["notes"]} & {"P11", "G23"})


# MARK: What is expected


def digest(lines):
    return hashlib.sha256("".join(line + "\n" for line in sorted(lines, key=str.encode)).encode()).hexdigest()


def compare(found, expected):
    assert len(expected) > fleet_captures.SHARED_PINGS + 500, "the bundle has %d records" % len(expected)
    if digest(found) == digest(expected):
        return
    more = collections.Counter(found) - collections.Counter(expected)
    less = collections.Counter(expected) - collections.Counter(found)
    for sign, lines in (("+", more), ("-", less)):
        for line, count in list(lines.items())[:5]:
            print(f"{sign} {count} times: {line[:600]}", file=sys.stderr)
    raise AssertionError(f"{sum(more.values())} records too many, {sum(less.values())} missing")


def check_notes(notes, alone):
    """The captures prove little if no id repeats from one to the other: more is noted than in all of them alone."""
    before = sum((repeated(lines) for _, lines in alone.values()), collections.Counter())
    assert notes["P11"] > before["P11"] and notes["G23"] > before["G23"], (notes, before)


def check_summary(summary, written, alone):
    """All was read but what cannot be, and each is told with its reason."""
    named = collections.defaultdict(list)
    for status in summary["not_whole"]:
        named[status["outcome"]].append((status["capture"].rpartition("captures/")[2], status))
    failed = dict(named["failed"])
    assert sorted(failed) == sorted(fleet_captures.UNREADABLE), sorted(failed)
    assert failed[fleet_captures.HANGS]["exit"] is None, failed
    assert f"time limit of {SECONDS_A_CAPTURE} s" in failed[fleet_captures.HANGS]["reason"], failed
    assert f"more than {MOST_OUTPUT} MiB" in failed[fleet_captures.ENDLESS]["reason"], failed
    assert failed[fleet_captures.DAMAGED]["exit"] == 65, failed
    assert "damaged" in failed[fleet_captures.DAMAGED]["reason"], failed
    assert all(status["records"] == 0 for status in failed.values()), failed
    incomplete = sorted(name for name, (status, _) in alone.items() if status == 1)
    assert sorted(name for name, _ in named["incomplete"]) == incomplete, (named["incomplete"], incomplete)
    assert (summary["captures"], summary["written"]) == (fleet_captures.COUNT, written), summary
    # The bundle that is shared has several parts, and so has the damaged one: what is whole in it comes twice.
    assert summary["parts"] > fleet_captures.COUNT + 2, summary["parts"]
    assert summary["duplicates"] == summary["read"] - written > 0, summary


def check_processes(work):
    """The capture whose executor died was read once more, and nothing that hung is left."""
    assert len(attempts(work)) == 2, attempts(work)
    with open(os.path.join(work, "hanging"), encoding="ascii") as file:
        hanging = [int(line) for line in file]
    assert len(hanging) == 2 and all(map(has_gone, hanging)), hanging
    left = [name for name in os.listdir(work) if name.endswith(".staging")]
    assert not left, left


if __name__ == "__main__":
    main()
