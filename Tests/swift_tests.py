"""Builds and runs the Swift tests, and reads their results from the event stream of Swift Testing."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
# The complete output of the last run.
LOG = os.path.join(ROOT, ".build/tests.log")
# The output of the tests begins with this line. It has several lines for each test and each of its arguments.
FIRST_LINE = "◇ Test run started."
# The elapsed time of each part of a run in seconds.
TIMES = {}


@contextlib.contextmanager
def timed(part):
    """Measures the time of the statements below, and adds it to `TIMES`."""
    start = time.monotonic()
    yield
    TIMES[part] = time.monotonic() - start


def list_times(parts):
    """Returns the times of parts in seconds as a text, such as `build 96, tests 120`."""
    return ", ".join("%s %.0f" % (part, TIMES[part]) for part in parts)


def build_programs():
    """Builds the debug programs as `make demo` does."""
    subprocess.run(["swift", "build"], cwd=ROOT, check=True, env={**os.environ, "PINGFERRY_ONLY_PROGRAMS": "1"})


def build_tests():
    """Builds the debug programs and the tests. Other options for the compiler would build everything again."""
    subprocess.run(["swift", "build", "--build-tests"], cwd=ROOT, check=True)


class Results:
    """The results of a run: counts, and descriptions of the failures and of the skipped tests."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skipped = []
        self.failed_tests = []

    @property
    def failed(self):
        """The number of failed tests. A run that ended before its last test counts as one more."""
        return len(self.failed_tests)


def run_tests(command, show_output=True, log=LOG):
    """Runs the Swift tests with `command` and writes its output to `log`.

    Returns `Results`.
    """
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events")
        process = subprocess.Popen(
            [*command, "--event-stream-output-path", events, "--event-stream-version", "0"], cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        copy(process.stdout, log, show_output)
        return read_results(events, process.wait(), log)


def copy(output, path, show_output):
    """Writes the output of the tests to a file. With `show_output`, prints what comes before the tests, and their summary."""
    is_testing, passed = False, 0
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as log:
        for line in output:
            log.write(line)
            if not show_output:
                continue
            is_testing = is_testing or line.startswith(FIRST_LINE)
            if not is_testing or "Test run with" in line:
                print(line, end="", flush=True)
            elif line.startswith("✔"):
                passed += 1
                if passed % 250 == 0:
                    print("%d tests and suites passed" % passed, flush=True)


def read_results(path, status, log):
    """Reads the results of a run from its event stream. `status` is the exit status of the run, and `log` has its output."""
    results = Results()
    functions, issues, started, ended, has_ended = set(), {}, set(), set(), False
    for event in read_events(path):
        payload = event["payload"]
        identifier = payload.get("testID")
        if event["kind"] == "test":
            if payload["kind"] == "function":
                functions.add(payload["id"])
        elif payload["kind"] == "testStarted":
            started.add(identifier)
        elif payload["kind"] == "testEnded":
            ended.add(identifier)
        elif payload["kind"] == "runEnded":
            has_ended = True
        elif payload["kind"] == "issueRecorded" and not payload["issue"].get("isKnown"):
            issues.setdefault(identifier, []).append(text(payload))
        elif payload["kind"] == "testSkipped" and identifier in functions:
            results.skipped.append("%s: %s" % (name(identifier), reason(payload)))
    results.passed = len((ended & functions) - issues.keys())
    for identifier, texts in issues.items():
        results.failed_tests.append(name(identifier))
        results.failures.append("%s\n  %s" % (name(identifier), "\n  ".join(texts)))
    if not has_ended or status != 0 and not issues:
        running = sorted(name(identifier) for identifier in (started - ended) & functions)
        results.failed_tests.append("the test run")
        results.failures.append("The test run ended early with status %d. Its output is in %s. Unfinished tests: %s" % (
            status, log, ", ".join(running[:20]) or "none"))
    return results


def read_events(path):
    """Yields the events of a stream. A run that crashed leaves an incomplete last line, which is ignored."""
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            try:
                yield json.loads(line)
            except ValueError:
                return


def name(identifier):
    """Returns the name of a test, without the position of its declaration."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", identifier or "outside of a test")


def text(payload):
    """Returns the messages of an event on one line."""
    return " | ".join(message["text"] for message in payload.get("messages", []))


def reason(payload):
    """Returns the comment of a skipped test's condition, or its message if the condition has no comment."""
    comments = [comment if isinstance(comment, str) else comment.get("rawValue", "") for comment in payload.get("_comments", [])]
    return " ".join(comments) or text(payload)


def print_results(failures, left_out):
    """Prints the descriptions of failed tests, and what was left out."""
    for failure in failures:
        print(failure)
    if left_out:
        print("Left out:\n  %s" % "\n  ".join(left_out))
