"""Tests of pingferry.columns. They need neither Spark nor the program."""

import glob
import json
import os
import re
import unittest

import package_path  # noqa: F401
from pingferry.columns import (
    REPEATED_ID_CODE, REPEATED_ID_CODES, REPEATED_ID_TEXT, NotARecord, canonical_line, labels, parse_record)

# A record in canonical JSON, with sorted keys, no spaces, and the shortest escapes.
LINE = (
    '{"app":{"build":"11","id":"org.mozilla.ios.Focus"},"client":"é\\"\\u001f\\n","held":["schema: a","no-target"],"id":"1",'
    '"notes":["P11 x","C3 \\"payload\\":{"],"payload":{"a":1.50,"payload":{"source":{"b":"\\ud800"}},'
    '"t":",\\"source\\":{"},"source":{"capture":"p","index":7,"path":"a\\"b,\\"source\\":{","store":"har-entry"},'
    '"system":"glean","target":{"headers":{"X-B":"1","X-é":"2"},"method":"PUT","path":"/a?b"},"time":null,"type":"core"}')


class LineTests(unittest.TestCase):
    def test_payload_is_copied_byte_by_byte(self):
        self.assertEqual(
            parse_record(LINE.encode())["payload"], '{"a":1.50,"payload":{"source":{"b":"\\ud800"}},"t":",\\"source\\":{"}')

    def test_other_columns_are_parsed(self):
        columns = parse_record(LINE.encode())
        self.assertEqual(columns["client"], 'é"\x1f\n')
        self.assertEqual(columns["held"], ["schema: a", "no-target"])
        self.assertEqual(columns["app"], {"build": "11", "id": "org.mozilla.ios.Focus"})
        self.assertEqual(columns["source"]["index"], 7)
        self.assertEqual(columns["target"]["headers"], {"X-B": "1", "X-é": "2"})
        self.assertEqual((columns["system"], columns["type"], columns["time"]), ("glean", "core", None))

    def test_columns_can_be_converted_to_the_same_line(self):
        self.assertEqual(canonical_line(parse_record(LINE.encode())), LINE)

    def test_line_can_be_made_from_structs_with_empty_fields_and_lists_of_pairs(self):
        columns = parse_record(LINE.encode())
        columns["app"] = {"build": "11", "channel": None, "id": "org.mozilla.ios.Focus", "name": None, "version": None}
        columns["target"]["headers"] = [("X-é", "2"), ("X-B", "1")]
        self.assertEqual(canonical_line(columns), LINE)

    def test_unknown_values_are_null(self):
        line = (
            '{"app":null,"client":null,"held":[],"id":"","notes":[],"payload":{},"source":{"capture":"","index":0,"path":"",'
            '"store":"ndjson-line"},"system":"sift","target":null,"time":null,"type":""}')
        self.assertEqual(canonical_line(parse_record(line.encode())), line)

    def test_lines_that_are_not_records_are_rejected(self):
        for old, new in (
                (LINE, ""), (LINE, "{}"), (LINE, "garbage"), ('"id":"1"', '"id":1'), ('"held":[', '"held":[1,'),
                ('"type":"core"', '"type":"core","more":1'), ('{"build":"11"', '{"more":"11"'), ('{"build":"11"', '{"build":11'),
                ('"index":7', '"index":"7"'), ('"index":7', '"index":true'),
                ('"index":7', '"index":9223372036854775808'), ('"time":null', '"time":5'),
                ('"method":"PUT"', '"method":null'), ('"id":"1"', '"id":"\\udfff"'), ('"/a?b"', '"\\ud83d"'),
                ('"notes":', '"note":'), ('"X-B":"1"', '"X-B":1')):
            with self.subTest(new=new):
                self.assertIn(old, LINE)
                with self.assertRaises(NotARecord):
                    parse_record(LINE.replace(old, new, 1).encode())

    def test_invalid_UTF_8_is_rejected(self):
        for line in (LINE.encode().replace(b'"a":1.50', b'"\xff":1'), LINE.encode().replace(b'"id":"1"', b'"id":"\xff"')):
            with self.assertRaises(NotARecord):
                parse_record(line)

    def test_truncated_line_is_rejected(self):
        line = LINE.encode()
        for end in range(len(line)):
            with self.assertRaises(NotARecord):
                parse_record(line[:end])

    def test_all_characters_are_escaped_as_in_canonical_JSON(self):
        every = "".join(map(chr, range(0x20))) + '"\\/\x7f\u2028\U0001f600'
        columns = parse_record(LINE.encode())
        columns["client"] = every
        short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
        expected = "".join(short.get(n, "\\u%04x" % n) for n in range(0x20)) + '\\"\\\\/\x7f\u2028\U0001f600'
        self.assertIn('"client":"%s"' % expected, canonical_line(columns))
        self.assertEqual(json.loads(canonical_line(columns))["client"], every)


class LabelTests(unittest.TestCase):
    def test_labels_are_the_shortest_suffixes_that_distinguish_captures(self):
        for paths, expected in (
                (["captures/a", "captures/b/"], ["a", "b"]),
                (["a/AppData", "b/AppData", "phone/"], ["a/AppData", "b/AppData", "phone"]),
                (["a/x", "b/a/x"], ["a/x", "b/a/x"]),
                (["/x", "x"], ["/x", "x"]),
                (["/a/x", "a/x"], ["/a/x", "a/x"]),
                (["a//x/.", "./b/x"], ["a/x", "b/x"]),
                (["a/x", "a/x", "a/x"], ["x", "x#2", "x#3"]),
                (["x", "x", "x#2"], ["x", "x#3", "x#2"]),
                (["a\nb c/é"], ["é"]),
                (["e\u0301", "\u00e9"], ["e\u0301", "e\u0301#2"]),
                (["x\udcff"], ["x\ufffd"])):
            with self.subTest(paths=paths):
                self.assertEqual(labels(paths), expected)

    def test_path_that_ends_with_dots_is_resolved(self):
        self.assertEqual(labels(["/usr/bin/..", "/"]), ["usr", "/"])


class RepeatedIDNoteTests(unittest.TestCase):
    SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources")

    def code(self, path):
        """Returns the code of repeated ids in a Swift source file, or None if there is none."""
        with open(path, encoding="utf-8") as file:
            code = re.search(r'var repeatedIDCode: String \{ "(\w+)" \}|let repeatedIDCode = "(\w+)"', file.read())
        return code and (code[1] or code[2])

    def test_codes_are_equal_to_those_of_the_program(self):
        default = self.code(os.path.join(self.SOURCES, "Telemetry/Systems/TelemetrySystem.swift"))
        self.assertEqual(default, REPEATED_ID_CODE)
        found = {}
        for path in glob.glob(os.path.join(self.SOURCES, "Systems/*/*System.swift")):
            code = self.code(path)
            if code:
                system = os.path.basename(path).removesuffix("System.swift")
                found[re.sub("(?<!^)([A-Z])", r"-\1", system).lower()] = code
        self.assertEqual(found, REPEATED_ID_CODES)

    def test_text_is_equal_to_that_of_the_program(self):
        with open(os.path.join(self.SOURCES, "Capture/Intake/Intake.swift"), encoding="utf-8") as file:
            self.assertIn('"\\(code) %s"' % REPEATED_ID_TEXT, file.read())


if __name__ == "__main__":
    unittest.main()
