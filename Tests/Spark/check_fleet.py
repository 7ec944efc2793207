"""Runs samples/spark/fleet.py on a local cluster of two executors, one of which is killed, and compares all records with those that
`pingferry bundle` makes from the same captures.

    check_fleet.py PROGRAM

Needs PySpark and the installed wheel, whose program the workers run. The results are compared with those of PROGRAM.
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

import fleet_captures
import pyarrow.dataset
import pyarrow.parquet
from pingferry.columns import canonical_line, labels
from pingferry.program import program_path
from waiting import has_ended, wait_until

MASTER = "local-cluster[2,1,1024]"
# The time limits for a capture and for the job, in seconds.
CAPTURE_TIMEOUT = 90
JOB_TIMEOUT = 480
# The limit for the output of the program, in MiB.
MAX_SPOOL = 256

# A script that replaces the program. For three captures it hangs, writes endlessly, or waits once until its executor is killed. For
# all other captures it runs the program.
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
        summary, found = spark_records(work, patterns)
        expected = bundle_records(work, program, patterns)
        compare(found, expected)
        separate = convert_each(work, program)
        check_notes(repeated_id_notes(expected), separate)
        check_summary(summary, len(expected), separate)
        check_processes(work)
    print(f"fleet: {len(found)} records are equal to those of one machine, sha256 {digest(found)}")


# MARK: The cluster


def spark_records(work, patterns):
    """Runs the job. Returns its summary and the lines of the records in the Parquet files."""
    stand_in = os.path.join(work, "stand-in")
    with open(stand_in, "w", encoding="utf-8") as file:
        file.write(STAND_IN.replace("$WORK", work).replace("$PROGRAM", program_path()))
    os.chmod(stand_in, 0o700)
    output, summary, log = (os.path.join(work, name) for name in ("records.parquet", "summary.json", "log"))
    options = {"program": stand_in, "timeout": CAPTURE_TIMEOUT, "spool": MAX_SPOOL, "segments": 16}
    words = [sys.executable, os.path.join(fleet_captures.ROOT, "samples/spark/fleet.py"), "-o", output, "--summary", summary]
    for name, value in options.items():
        words += ["--option", f"{name}={value}"]
    with open(log, "wb") as file:
        job = subprocess.Popen(words + patterns, env=environment(work), stdout=file, stderr=file, start_new_session=True)
    try:
        kill_executor(work, job)
        status = job.wait(JOB_TIMEOUT)
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
    """Kills the executor that reads the capture `VICTIM`, and checks that the program that it started ends too."""
    first = os.path.join(work, "first")
    assert wait_until(lambda: os.path.exists(first) or job.poll() is not None, JOB_TIMEOUT), "the job does not start"
    assert job.poll() is None, "the job ended early"
    program = attempts(work)[0]
    executor = executor_of(program)
    os.kill(executor, signal.SIGKILL)
    assert wait_until(lambda: has_ended(executor)), "the executor is still running"
    assert wait_until(lambda: has_ended(program)), "the program is still running after its executor ended"


def attempts(work):
    """Returns the ids of the processes that read the capture `VICTIM`."""
    with open(os.path.join(work, "attempts"), encoding="ascii") as file:
        return [int(line) for line in file]


def executor_of(process):
    """Returns the id of the executor that is an ancestor of a process."""
    while process > 1:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            if b"CoarseGrainedExecutorBackend" in file.read():
                return process
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            process = int(file.read().rpartition(")")[2].split()[1])
    raise AssertionError("no executor is an ancestor of the program")


def end(job):
    """Kills the job and all processes that it started."""
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
    """Returns the lines of a bundle of all captures that can be read."""
    paths = capture_paths(patterns)
    readable = [(path, label) for path, label in zip(paths, labels(paths)) if not is_unreadable(path)]
    output = os.path.join(work, "all.tar.zst")
    fleet_captures.bundle(program, output, *(path for path, _ in readable))
    made = subprocess.run([program, "list", "--json", "--", output], check=True, stdout=subprocess.PIPE)
    found = [entry["label"] for entry in json.loads(made.stdout)["inputs"]]
    assert found == [label for _, label in readable], "the captures have other labels: %s" % found
    made = subprocess.run([program, "convert", "--quiet", "-o", "-", "--", output], stdout=subprocess.PIPE)
    assert made.returncode in (0, 1), made.returncode
    return made.stdout.decode().split("\n")[:-1]


def capture_paths(patterns):
    return [path for pattern in patterns for path in sorted(glob.glob(pattern), key=os.fsencode)]


def is_unreadable(path):
    return os.path.basename(path) in fleet_captures.UNREADABLE


def convert_each(work, program):
    """Converts each capture that can be read separately. Returns the exit statuses and the lines, by the name of the capture."""
    made = {}
    for name in os.listdir(os.path.join(work, "captures")):
        if not is_unreadable(name):
            path = os.path.join(work, "captures", name)
            run = subprocess.run(
                [program, "convert", "--quiet", "-o", "-", "--", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            made[name] = run.returncode, run.stdout.decode().split("\n")[:-1]
    return made


def repeated_id_notes(lines):
    """Returns the numbers of records that have a note on a repeated id, by the code of the note."""
    return collections.Counter(
        code for line in lines for code in {note.split()[0] for note in json.loads(line)["notes"]} & {"P11", "G23"})


# MARK: Comparisons


def digest(lines):
    """Returns a hash of the lines that does not depend on their order."""
    return hashlib.sha256("".join(line + "\n" for line in sorted(lines, key=str.encode)).encode()).hexdigest()


def compare(found, expected):
    assert len(expected) > fleet_captures.SHARED_PINGS + 500, "the bundle has %d records" % len(expected)
    if digest(found) == digest(expected):
        return
    added = collections.Counter(found) - collections.Counter(expected)
    missing = collections.Counter(expected) - collections.Counter(found)
    for sign, lines in (("+", added), ("-", missing)):
        for line, count in list(lines.items())[:5]:
            print(f"{sign} {count} times: {line[:600]}", file=sys.stderr)
    raise AssertionError(f"{sum(added.values())} unexpected and {sum(missing.values())} missing records")


def check_notes(notes, separate):
    """Checks that some ids occur in several captures, because otherwise the comparison would not test their notes."""
    before = sum((repeated_id_notes(lines) for _, lines in separate.values()), collections.Counter())
    assert notes["P11"] > before["P11"] and notes["G23"] > before["G23"], (notes, before)


def check_summary(summary, written, separate):
    """Checks that exactly the unreadable captures failed, and that the summary states the reasons and the correct numbers."""
    named = collections.defaultdict(list)
    for status in summary["not_whole"]:
        named[status["outcome"]].append((status["capture"].rpartition("captures/")[2], status))
    failed = dict(named["failed"])
    assert sorted(failed) == sorted(fleet_captures.UNREADABLE), sorted(failed)
    assert failed[fleet_captures.HANGS]["exit"] is None, failed
    assert f"time limit of {CAPTURE_TIMEOUT} s" in failed[fleet_captures.HANGS]["reason"], failed
    assert f"more than {MAX_SPOOL} MiB" in failed[fleet_captures.ENDLESS]["reason"], failed
    assert failed[fleet_captures.DAMAGED]["exit"] == 65, failed
    assert "damaged" in failed[fleet_captures.DAMAGED]["reason"], failed
    assert all(status["records"] == 0 for status in failed.values()), failed
    incomplete = sorted(name for name, (status, _) in separate.items() if status == 1)
    assert sorted(name for name, _ in named["incomplete"]) == incomplete, (named["incomplete"], incomplete)
    assert (summary["captures"], summary["written"]) == (fleet_captures.COUNT, written), summary
    # The shared bundle and its damaged copy have several parts. The undamaged records of the copy are duplicates.
    assert summary["parts"] > fleet_captures.COUNT + 2, summary["parts"]
    assert summary["duplicates"] == summary["read"] - written > 0, summary


def check_processes(work):
    """Checks that the capture `VICTIM` was read again, and that no process or temporary folder is left."""
    assert len(attempts(work)) == 2, attempts(work)
    with open(os.path.join(work, "hanging"), encoding="ascii") as file:
        hanging = [int(line) for line in file]
    assert len(hanging) == 2 and all(map(has_ended, hanging)), hanging
    left = [name for name in os.listdir(work) if name.endswith(".staging")]
    assert not left, left


if __name__ == "__main__":
    main()
