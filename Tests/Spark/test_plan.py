"""Tests of pingferry.plan. They need no Spark. A script replaces the program."""

import json
import os
import stat
import tempfile
import unittest

import package_path  # noqa: F401
from pingferry.plan import MIN_SEGMENT_BYTES, Part, ZSTD_MAGIC, capture_paths, load_patterns, plan, segment_ranges
from pingferry.program import Limits

# The minimum size of a file that is listed as a bundle if at most 4 segments may be in one part.
LARGE = MIN_SEGMENT_BYTES * 4


class PlanTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)

    def make(self, name, contents=b""):
        os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
        with open(name, "wb") as file:
            file.write(contents)

    def program(self, script):
        """Creates a program from a shell script, which is called as `program list --quiet --json -- PATH`. Returns its path."""
        self.make("program", b"#!/bin/sh\n" + script.encode() + b"\n")
        os.chmod("program", stat.S_IRWXU)
        return os.path.abspath("program")

    def test_matches_of_a_pattern_are_sorted_by_bytes(self):
        for name in ("c/b", "c/B", "c/é", "c/a b", "c/.hidden", "d/z"):
            self.make(name)
        self.assertEqual(capture_paths(["d/*", "c/*"]), ["d/z", "c/B", "c/a b", "c/b", "c/é"])

    def test_existing_path_is_not_used_as_a_pattern(self):
        for name in ("c/[ab]", "c/a", "c/*"):
            self.make(name)
        self.assertEqual(capture_paths(["c/[ab]"]), ["c/[ab]"])
        self.assertEqual(capture_paths(["c/*"]), ["c/*"])
        os.symlink("nowhere", "broken")
        self.assertEqual(capture_paths(["broken"]), ["broken"])

    def test_pattern_without_matches_is_an_error(self):
        self.make("c/a")
        with self.assertRaises(FileNotFoundError):
            capture_paths(["c/*", "d/*"])

    def test_load_accepts_one_path_or_a_list(self):
        self.assertEqual(load_patterns("a,b", None), ["a,b"])
        self.assertEqual(load_patterns(None, '["a","b\\n\\u00e9"]'), ["a", "b\né"])
        with self.assertRaises(ValueError):
            load_patterns(None, None)

    def test_each_capture_is_a_part(self):
        self.make("one/AppData/x")
        self.make("two/AppData/x")
        self.make("a\nb")
        self.assertEqual(plan(["*/AppData", "a*"], None, Limits(), 16), [
            Part(0, f"{self.folder}/one/AppData", "one/AppData"), Part(1, f"{self.folder}/two/AppData", "two/AppData"),
            Part(2, f"{self.folder}/a\nb", "a\nb")])

    def test_large_bundle_is_divided_into_ranges_of_segments(self):
        self.make("b.tar.zst", ZSTD_MAGIC + bytes(LARGE))
        self.make("c", b"x")
        program = self.program(
            """[ "$1 $2 $3 $4" = "list --quiet --json --" ] || exit 64; [ -f "$5" ] || exit 66
            echo '{"segments": [1, 2, 3, 4, 5]}'""")
        self.assertEqual(
            [(part.number, part.label, part.segments) for part in plan(["b.tar.zst", "c"], program, Limits(), 2)],
            [(0, "b.tar.zst", "1-2"), (1, "b.tar.zst", "3-4"), (2, "b.tar.zst", "5-5"), (3, "c", None)])
        self.assertEqual(len(plan(["b.tar.zst"], program, Limits(), 5)), 1)

    def test_segment_ranges_contain_all_segments_in_order(self):
        self.assertEqual(segment_ranges(0, 16), [None])
        self.assertEqual(segment_ranges(16, 16), [None])
        self.assertEqual(segment_ranges(17, 16), ["1-16", "17-17"])
        self.assertEqual(segment_ranges(32, 16), ["1-16", "17-32"])

    def test_bundle_that_cannot_be_listed_is_one_part(self):
        self.make("b.tar.zst", ZSTD_MAGIC + bytes(LARGE))
        for script in (
                "exit 65", "echo '{'", "echo '[]'", "echo '{}'", "echo '{\"segments\": 5}'", "kill -9 $$", "exec sleep 600",
                "printf '{\"segments\": [1,2,3,4], \"x\": \"'; head -c 70000000 /dev/zero | tr '\\0' x; echo '\"}'"):
            with self.subTest(script=script):
                parts = plan(["b.tar.zst"], self.program(script), Limits(seconds=2 if "sleep" in script else 60), 2)
                self.assertEqual([part.segments for part in parts], [None])

    def test_only_large_compressed_files_are_listed(self):
        self.make("small", ZSTD_MAGIC)
        self.make("other", bytes(LARGE))
        os.mkfifo("pipe")
        os.mkdir("folder")
        os.symlink("pipe", "link")
        program = self.program("echo '%s'" % json.dumps({"segments": [0] * 9}))
        parts = plan(["small", "other", "pipe", "folder", "link"], program, Limits(seconds=5), 2)
        self.assertEqual([part.segments for part in parts], [None] * 5)


if __name__ == "__main__":
    unittest.main()
