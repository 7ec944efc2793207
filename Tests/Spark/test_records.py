"""Lines as columns and back, and the names of captures. Needs neither Spark nor the program."""

import glob
import json
import os
import re
import unittest

import samples_path  # noqa: F401
import pingferry_records
from pingferry_records import NotARecord, canonical_line, labels, record

# As the contract of records writes one: keys in order, no spaces, the shortest escapes.
LINE = (
    '{"app":{"build":"11","id":"org.mozilla.ios.Focus"},"client":"é\\"\\u001f\\n","held":["schema: a","no-target"],"id":"1",'
    '"notes":["P11 x","C3 \\"payload\\":{"],"payload":{"a":1.50,"payload":{"source":{"b":"\\ud800"}},'
    '"t":",\\"source\\":{"},"source":{"capture":"p","index":7,"path":"a\\"b,\\"source\\":{","store":"har-entry"},'
    '"system":"glean","target":{"headers":{"X-B":"1","X-é":"2"},"method":"PUT","path":"/a?b"},"time":null,"type":"core"}')


class Lines(unittest.TestCase):
    def test_the_payload_is_cut_out_byte_for_byte(self):
        self.assertEqual(
            record(LINE.encode())["payload"], '{"a":1.50,"payload":{"source":{"b":"\\ud800"}},"t":",\\"source\\":{"}')

    def test_the_other_columns_are_values(self):
        columns = record(LINE.encode())
        self.assertEqual(columns["client"], 'é"\x1f\n')
        self.assertEqual(columns["held"], ["schema: a", "no-target"])
        self.assertEqual(columns["app"], {"build": "11", "id": "org.mozilla.ios.Focus"})
        self.assertEqual(columns["source"]["index"], 7)
        self.assertEqual(columns["target"]["headers"], {"X-B": "1", "X-é": "2"})
        self.assertEqual((columns["system"], columns["type"], columns["time"]), ("glean", "core", None))

    def test_columns_make_the_line_again(self):
        self.assertEqual(canonical_line(record(LINE.encode())), LINE)

    def test_structs_with_empty_places_and_lists_of_pairs_make_it_too(self):
        columns = record(LINE.encode())
        columns["app"] = {"build": "11", "channel": None, "id": "org.mozilla.ios.Focus", "name": None, "version": None}
        columns["target"]["headers"] = [("X-é", "2"), ("X-B", "1")]
        self.assertEqual(canonical_line(columns), LINE)

    def test_what_is_unknown_is_null(self):
        line = (
            '{"app":null,"client":null,"held":[],"id":"","notes":[],"payload":{},"source":{"capture":"","index":0,"path":"",'
            '"store":"ndjson-line"},"system":"sift","target":null,"time":null,"type":""}')
        self.assertEqual(canonical_line(record(line.encode())), line)

    def test_what_is_no_record_is_refused(self):
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
                    record(LINE.replace(old, new, 1).encode())

    def test_bytes_that_are_no_text_are_refused(self):
        for line in (LINE.encode().replace(b'"a":1.50', b'"\xff":1'), LINE.encode().replace(b'"id":"1"', b'"id":"\xff"')):
            with self.assertRaises(NotARecord):
                record(line)

    def test_a_cut_line_is_refused(self):
        line = LINE.encode()
        for end in range(len(line)):
            with self.assertRaises(NotARecord):
                record(line[:end])

    def test_any_text_is_escaped_as_the_contract_says(self):
        every = "".join(map(chr, range(0x20))) + '"\\/\x7f\u2028\U0001f600'
        columns = record(LINE.encode())
        columns["client"] = every
        short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
        expected = "".join(short.get(n, "\\u%04x" % n) for n in range(0x20)) + '\\"\\\\/\x7f\u2028\U0001f600'
        self.assertIn('"client":"%s"' % expected, canonical_line(columns))
        self.assertEqual(json.loads(canonical_line(columns))["client"], every)


class Labels(unittest.TestCase):
    def test_they_are_the_last_parts_or_as_much_as_tells_apart(self):
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

    def test_dots_are_named_by_what_they_lead_to(self):
        self.assertEqual(labels(["/usr/bin/..", "/"]), ["usr", "/"])


class Codes(unittest.TestCase):
    SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources")

    def code(self, path):
        with open(path, encoding="utf-8") as file:
            code = re.search(r'var repeatedIDCode: String \{ "(\w+)" \}|let repeatedIDCode = "(\w+)"', file.read())
        return code and (code[1] or code[2])

    def test_they_are_those_of_the_program(self):
        default = self.code(os.path.join(self.SOURCES, "Telemetry/Systems/TelemetrySystem.swift"))
        self.assertEqual(default, pingferry_records.REPEATED_ID_CODE)
        found = {}
        for path in glob.glob(os.path.join(self.SOURCES, "Systems/*/*System.swift")):
            code = self.code(path)
            if code:
                system = os.path.basename(path).removesuffix("System.swift")
                found[re.sub("(?<!^)([A-Z])", r"-\1", system).lower()] = code
        self.assertEqual(found, pingferry_records.REPEATED_ID_CODES)

    def test_so_are_the_words(self):
        with open(os.path.join(self.SOURCES, "Capture/Intake/Intake.swift"), encoding="utf-8") as file:
            self.assertIn('"\\(code) %s"' % pingferry_records.REPEATED_ID_WORDS, file.read())


if __name__ == "__main__":
    unittest.main()
