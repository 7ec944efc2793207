"""Tests of pingferry.spark. They need PySpark and PyArrow, but no running Spark. A script replaces the program."""

import json
import os
import stat
import tempfile
import unittest
import unittest.mock

import package_path  # noqa: F401
from pingferry.columns import canonical_line
from pingferry.plan import Part
from pingferry.spark import SCHEMA, CapturesPart, CapturesReader, Captures, settings
from test_columns import LINE

MIB = 1 << 20


def line(number, payload="{}"):
    """Returns a record whose id and index are `number`."""
    return (
        '{"app":null,"client":null,"held":[],"id":"%d","notes":[],"payload":%s,"source":{"capture":"c","index":%d,"path":"p",'
        '"store":"ndjson-line"},"system":"sift","target":null,"time":null,"type":"x"}\n' % (number, payload, number))


class ReaderTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def rows(self, script, output="", part=Part(3, "/captures/a\nb", "a\nb"), **options):
        """Returns the batches of rows of a part, for a program that prints `output` and then runs the shell script `script`."""
        with open(self.folder + "/output", "w", encoding="utf-8") as file:
            file.write(output)
        program = self.folder + "/program"
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat {self.folder}/output\n{script}\n")
        os.chmod(program, stat.S_IRWXU)
        reader = CapturesReader(settings({"path": "x", "program": program, **options}))
        return [batch.to_pylist() for batch in reader.read(CapturesPart(part))]

    def status(self, *arguments, **options):
        """Reads a part that has a single batch. Returns its status and its other rows."""
        (*rows, last), = self.rows(*arguments, **options)
        self.assertEqual({key for key, value in last.items() if value is not None}, {"part", "status"})
        return last["status"], rows

    def test_each_record_is_a_row_and_the_last_row_is_the_status(self):
        status, rows = self.status("exit 0", LINE + "\n" + line(8))
        self.assertEqual(
            [(row["part"], row["line"], row["id"], row["status"]) for row in rows], [(3, 0, "1", None), (3, 1, "8", None)])
        self.assertEqual(canonical_line(rows[0]), LINE)
        self.assertEqual(
            {key: status[key] for key in ("capture", "segments", "outcome", "exit", "reason", "problems", "records", "left_out")},
            {"capture": "/captures/a\\nb", "segments": None, "outcome": "whole", "exit": 0, "reason": None, "problems": [],
             "records": 2, "left_out": 0})

    def test_program_is_run_with_the_path_and_the_segments_of_the_part(self):
        status, _ = self.status('printf "%s|" "$@" >&2; exit 1', part=Part(0, "/c/-x", "-x", "3-4"))
        self.assertEqual(status["problems"], ["convert|--quiet|--jobs|1|-o|-|--label=-x|--segments|3-4|--|/c/-x|"])
        self.assertEqual(status["segments"], "3-4")

    def test_rows_and_problems_are_returned_after_exit_status_1(self):
        status, rows = self.status("echo 'pingferry: a: P2' >&2; exit 1", line(1))
        self.assertEqual((status["outcome"], status["exit"], status["problems"]), ("incomplete", 1, ["pingferry: a: P2"]))
        self.assertEqual(len(rows), 1)

    def test_only_the_status_is_returned_after_other_exit_statuses(self):
        for script, code, reason in (
                ("echo one >&2; echo two >&2; exit 65", 65, "one; two"), ("exit 74", 74, "status 74"),
                ("kill -KILL $$", None, "SIGKILL"), ("exec sleep 600", None, "time limit of 2 s"),
                ("printf '\\377' >&2; exit 2", 2, "\ufffd")):
            with self.subTest(script=script):
                status, rows = self.status(script, line(1), timeout=2 if "sleep" in script else 600)
                self.assertEqual((status["outcome"], status["exit"], status["records"], rows), ("failed", code, 0, []))
                self.assertIn(reason, status["reason"])

    def test_no_record_is_returned_if_the_output_exceeds_the_spool(self):
        status, rows = self.status("exec cat /dev/zero", line(1), spool=1)
        self.assertEqual((status["outcome"], rows), ("failed", []))
        self.assertIn("more than 1 MiB", status["reason"])

    def test_status_reports_that_the_worker_has_no_program(self):
        reader = CapturesReader(settings({"path": "x", "program": "/nowhere/pingferry"}))
        (row,), = [batch.to_pylist() for batch in reader.read(CapturesPart(Part(0, "/c", "c")))]
        self.assertEqual((row["status"]["outcome"], row["status"]["exit"]), ("failed", None))
        self.assertIn("no program /nowhere/pingferry on this worker", row["status"]["reason"])

    def test_status_reports_that_the_worker_cannot_create_files(self):
        with unittest.mock.patch.object(tempfile, "tempdir", "/nowhere"):
            status, rows = self.status("exit 0", line(1))
        self.assertEqual((status["outcome"], rows), ("failed", []))
        self.assertIn("No such file", status["reason"])

    def test_too_long_lines_are_omitted_and_reported(self):
        long = line(1, '{"a":"%s"}' % ("x" * MIB))
        for text in (long + line(2), line(2) + long[:-1]):
            status, rows = self.status("exit 0", text, record=1)
            self.assertEqual([row["id"] for row in rows], ["2"])
            self.assertEqual((status["outcome"], status["records"], status["left_out"]), ("incomplete", 1, 1))
            self.assertIn("more than 1 MiB (option record)", status["reason"])
        exact = line(1, '{"a":"%s"}' % ("x" * (MIB - len(line(1, '{"a":""}')) + 1)))
        self.assertEqual(len(exact), MIB + 1)
        self.assertEqual(self.status("exit 0", exact, record=1)[0]["outcome"], "whole")

    def test_lines_that_are_not_records_are_omitted_and_reported(self):
        status, rows = self.status("exit 0", line(1) + "{\x1b}\n\n" + line(2))
        self.assertEqual([(row["line"], row["id"]) for row in rows], [(0, "1"), (3, "2")])
        self.assertEqual((status["outcome"], status["left_out"], status["reason"]), (
            "incomplete", 2, "2 lines left out, the first of them because: no payload"))

    def test_batches_have_limited_numbers_of_rows_and_bytes(self):
        many = self.rows("exit 0", "".join(map(line, range(25_000))))
        self.assertEqual([len(batch) for batch in many], [10_000, 10_000, 5_001])
        self.assertEqual([row["line"] for batch in many for row in batch[:None if batch is not many[-1] else -1]], [*range(25_000)])
        large = self.rows("exit 0", "".join(line(number, '{"a":"%s"}' % ("x" * MIB)) for number in range(20)))
        self.assertEqual([len(batch) for batch in large], [8, 8, 5])

    def test_empty_capture_has_only_a_status(self):
        status, rows = self.status("exit 0")
        self.assertEqual((status["outcome"], status["records"], rows), ("whole", 0, []))

    def test_file_descriptors_are_closed_if_reading_is_abandoned(self):
        before = len(os.listdir("/proc/self/fd"))
        program = "/bin/true"
        reader = CapturesReader(settings({"path": "x", "program": program}))
        batches = reader.read(CapturesPart(Part(0, "/c", "c")))
        next(batches)
        batches.close()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class OptionTests(unittest.TestCase):
    def test_defaults(self):
        found = settings({"paths": json.dumps(["a", "b"])})
        self.assertEqual((found.patterns, found.program, found.segments, found.record), (["a", "b"], None, 256, 16 * MIB))
        self.assertEqual((found.limits.seconds, found.limits.memory, found.limits.output), (600, 1024 * MIB, 8192 * MIB))

    def test_invalid_options_are_rejected(self):
        for options in (
                {"timout": "5"}, {"timeout": "0"}, {"timeout": "-1"}, {"timeout": "5s"}, {"timeout": "²"}, {"memory": "1e3"},
                {"record": "1025"}, {"segments": "1000001"}):
            with self.subTest(options=options), self.assertRaises(ValueError):
                settings({"path": "x", **options})
        with self.assertRaises(ValueError):
            settings({})

    def test_columns_are_fixed(self):
        with self.assertRaises(ValueError):
            Captures({"path": "x"}).reader(SCHEMA["status"].dataType)
        self.assertIsInstance(Captures({"path": "x"}).reader(SCHEMA), CapturesReader)


if __name__ == "__main__":
    unittest.main()
