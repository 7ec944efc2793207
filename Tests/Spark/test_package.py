"""Tests of `pingferry.records`. They need the installed wheel, whose program they run."""

import decimal
import json
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import pingferry
from pingferry.program import program_path

SAMPLES = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples"))
RECORD = (
    '{"app":null,"client":null,"held":["no-target"],"id":"%s","notes":[],"payload":{"value":%s},"source":{"capture":"c","index":0,'
    '"path":"p","store":"ndjson-line"},"system":"mozilla","target":null,"time":null,"type":"core"}\n')


def sample(name):
    return os.path.join(SAMPLES, name)


class RecordsTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        variables = unittest.mock.patch.dict(os.environ, {"PATH": "/nowhere"})
        variables.start()
        self.addCleanup(variables.stop)
        os.environ.pop("PINGFERRY", None)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def use_script(self, script):
        """Replaces the program by a shell script."""
        path = self.write("script", "#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)
        os.environ["PINGFERRY"] = path

    def failure(self, *captures, **options):
        """Returns the status and the message of the error of a call."""
        with self.assertRaises(pingferry.Error) as raised:
            list(pingferry.records(*captures, **options))
        self.assertEqual(str(raised.exception), raised.exception.message)
        return raised.exception.status, raised.exception.message

    def test_program_of_the_wheel_is_found_without_the_search_path(self):
        self.assertEqual(program_path(), os.path.join(sys.prefix, "bin/pingferry"))

    def test_records_are_those_of_the_program(self):
        captures = [sample(name) for name in ("damaged", "firefox-today", "focus.zip", "leanplum", "shop", "browser.har", "pings.ndjson")]
        made = subprocess.run(
            [program_path(), "convert", "--quiet", "-o", "-", *captures], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with self.assertWarns(pingferry.IncompleteWarning):
            found = list(pingferry.records(*captures))
        self.assertEqual(found, [json.loads(line) for line in made.stdout.splitlines()])
        self.assertGreater(len(found), 40)

    def test_lost_data_is_a_warning_of_the_caller(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(len(list(pingferry.records(sample("damaged")))), 5)
        warning, = caught
        self.assertEqual((warning.category, warning.filename), (pingferry.IncompleteWarning, __file__))
        self.assertEqual(str(warning.message).count("\n"), 4)
        self.assertIn("-t-1547466302.12148.json: P1 empty file", str(warning.message))

    def test_errors_have_the_status_and_the_message_of_the_program(self):
        self.assertEqual(self.failure("/missing"), (66, "pingferry: cannot open /missing: No such file or directory"))
        status, message = self.failure(sample("shop"), sinse="2020-01-01")
        self.assertEqual((status, message.split("\n")[0]), (64, "pingferry: Unknown option '--sinse'. Did you mean '--since'?"))
        self.assertEqual(self.failure()[0], 64)
        bundle = os.path.join(self.folder, "a.tar.zst")
        subprocess.run([program_path(), "bundle", "--quiet", "-o", bundle, sample("shop")], check=True)
        self.assertEqual(len(list(pingferry.records(bundle))), 6)
        os.truncate(bundle, os.path.getsize(bundle) - 100)
        status, message = self.failure(bundle)
        self.assertEqual(status, 65)
        self.assertIn(bundle, message)

    def test_error_of_a_killed_program_has_the_number_of_the_signal(self):
        self.use_script("kill -KILL $$")
        self.assertEqual(self.failure("x"), (-9, "pingferry ended with status -9"))

    def test_error_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(pingferry.Error(65, "damaged")))
        self.assertEqual((error.status, str(error)), (65, "damaged"))

    def test_missing_program_is_an_error(self):
        os.environ["PINGFERRY"] = "/nowhere/pingferry"
        with self.assertRaises(FileNotFoundError):
            next(pingferry.records(sample("shop")))

    def test_keyword_arguments_are_options(self):
        self.use_script('for word; do printf \'"%s"\\n\' "$word"; done')
        for options, expected in (
                ({}, []), ({"since": "2020-01-01", "spool_limit": 1}, ["--since=2020-01-01", "--spool-limit=1"]),
                ({"type": ["a", "b"], "labels": True, "salvage": False, "until": None}, ["--type=a", "--type=b", "--labels"])):
            self.assertEqual(
                list(pingferry.records("-a", b"b", **options)), ["convert", "--quiet", "--output", "-", *expected, "--", "-a", "b"])

    def test_filters_and_labels(self):
        found = list(pingferry.records(sample("firefox"), sample("shop"), system=["sift"], labels=True))
        self.assertEqual({record["system"] for record in found}, {"sift"})
        self.assertTrue(all("labels" in record for record in found))

    def test_numbers(self):
        numbers = ["12345678901234567890123", "9" * 5000, "0.1234567890123456789", "1e400"]
        path = self.write("numbers.ndjson", "".join(RECORD % (index, number) for index, number in enumerate(numbers)))
        found = [record["payload"]["value"] for record in pingferry.records(path)]
        self.assertEqual(found, [12345678901234567890123, decimal.Decimal("9" * 5000), 0.12345678901234568, float("inf")])
        found = [record["payload"]["value"] for record in pingferry.records(path, parse_float=decimal.Decimal)]
        self.assertEqual(found[2:], [decimal.Decimal("0.1234567890123456789"), decimal.Decimal("1e400")])

    def test_strings(self):
        path = self.write("strings.ndjson", RECORD % ("é\\u0000", '"\\ud83d\\ude00\\n"'))
        record, = pingferry.records(path)
        self.assertEqual((record["id"], record["payload"]), ("é\0", {"value": "\U0001f600\n"}))
        self.use_script("printf '%s\\n' '[\"\\ud800\"]'")
        self.assertEqual(list(pingferry.records(path)), [["\ud800"]])

    def test_program_ends_when_the_generator_is_closed_or_unused(self):
        path = self.write("many.ndjson", "".join(RECORD % (index, '"%s"' % ("x" * 1000)) for index in range(5000)))
        for end in (lambda found: found.close(), lambda found: None):
            found = pingferry.records(path)
            self.assertEqual(next(found)["id"], "0")
            # The program is still running, because it waits until more of its output is read.
            self.assertEqual(os.waitpid(-1, os.WNOHANG), (0, 0))
            end(found)
            del found
            with self.assertRaises(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)


if __name__ == "__main__":
    unittest.main()
