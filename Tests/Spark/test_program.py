"""Runs small programs under limits. Needs neither Spark nor the program."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import samples_path  # noqa: F401
from pingferry_program import MIB, MOST_LINES, Limits, program_path, running, shown
from waiting import has_gone, wait_until

SHELL = ["/bin/sh", "-c"]
LONG = 600


class Running(unittest.TestCase):
    def run_shell(self, script, **limits):
        with running(SHELL + [script], Limits(**limits)) as (ending, output):
            return ending, output.read()

    def test_output_and_status_are_those_of_the_program(self):
        ending, output = self.run_shell("printf 'a\\nb\\n'; echo oops >&2; exit 65")
        self.assertEqual((ending.status, ending.reason, ending.said, output), (65, None, ["oops"], b"a\nb\n"))

    def test_there_is_no_input_and_no_terminal(self):
        ending, output = self.run_shell("cat; (: < /dev/tty) 2> /dev/null || echo none")
        self.assertEqual((ending.status, output), (0, b"none\n"))

    def test_at_the_limit_of_time_the_whole_group_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"sleep {LONG} & echo $! > {folder}/child; echo $$ > {folder}/self; echo before; wait"
            seconds = 1
            ending, output = self.run_shell(script, seconds=seconds)
            # A busy machine can need longer to get to the end of the script.
            while not output and seconds < 600:
                seconds *= 2
                ending, output = self.run_shell(script, seconds=seconds)
            self.assertIsNone(ending.status)
            self.assertIn(f"time limit of {seconds} s", ending.reason)
            self.assertEqual(output, b"before\n")
            for name in ("child", "self"):
                with open(os.path.join(folder, name), encoding="ascii") as file:
                    process = int(file.read())
                self.assertTrue(wait_until(lambda: has_gone(process)))

    def test_what_a_program_leaves_behind_is_killed_too(self):
        ending, output = self.run_shell(f"sleep {LONG} > /dev/null & echo $!")
        self.assertEqual((ending.status, ending.reason), (0, None))
        self.assertTrue(wait_until(lambda: has_gone(int(output))))

    def test_a_signal_is_named(self):
        ending, _ = self.run_shell("kill -ABRT $$")
        self.assertIsNone(ending.status)
        self.assertIn("signal 6 (SIGABRT)", ending.reason)

    def test_memory_is_limited(self):
        grow = [sys.executable, "-c", "x = bytearray(1 << 30)"]
        with running(grow, Limits(memory=512 * MIB)) as (ending, _):
            self.assertEqual((ending.status, ending.said[-1]), (1, "MemoryError"))
        with running(grow, Limits(memory=4096 * MIB)) as (ending, _):
            self.assertEqual(ending.status, 0)

    def test_output_without_end_is_stopped(self):
        for script in ("exec cat /dev/zero", "trap '' XFSZ; exec cat /dev/zero"):
            with running(SHELL + [script], Limits(output=4 * MIB)) as (ending, output):
                self.assertIn("wrote more than 4 MiB (option spool)", ending.reason)
                self.assertEqual(output.seek(0, os.SEEK_END), 4 * MIB)

    def test_of_standard_error_the_last_lines_are_kept_as_printable_text(self):
        ending, _ = self.run_shell("printf 'x\\033[31m\\377\\r\\302\\240y\\n\\n' >&2; exit 1")
        self.assertEqual(ending.said, ["x\\x1b[31m\ufffd\\r\\xa0y"])
        ending, _ = self.run_shell("i=0; while [ $i -lt 300 ]; do echo line $i >&2; i=$((i+1)); done")
        self.assertEqual(ending.said, [f"line {number}" for number in range(300 - MOST_LINES, 300)])
        ending, _ = self.run_shell("head -c 1000000 /dev/zero | tr '\\0' a >&2")
        self.assertEqual((len(ending.said), ending.said[0][:3]), (1, "…aa"))
        self.assertLess(len(ending.said[0]), 20_000)

    def test_a_program_that_is_none_is_an_error(self):
        with self.assertRaises(OSError):
            with running(["/etc/hostname"], Limits()):
                pass

    def test_nothing_stays_open(self):
        before = os.listdir("/proc/self/fd")
        self.run_shell("exit 0")
        self.run_shell(f"sleep {LONG}", seconds=1)
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(before))

    def test_a_worker_that_is_killed_takes_the_program_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "pid")
            worker = subprocess.Popen([sys.executable, "-c", (
                "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])\n"
                "from pingferry_program import Limits, running\n"
                "with running(['/bin/sh', '-c', sys.argv[2]], Limits()): pass"),
                samples_path.FOLDER, f"echo $$ > {place}.new; mv {place}.new {place}; exec sleep {LONG}"])
            try:
                self.assertTrue(wait_until(lambda: os.path.exists(place)))
            finally:
                worker.send_signal(signal.SIGKILL)
                worker.wait()
            with open(place, encoding="ascii") as file:
                program = int(file.read())
            self.assertTrue(wait_until(lambda: has_gone(program)))


class Finding(unittest.TestCase):
    def test_the_option_comes_before_the_variable_and_the_search_path(self):
        with unittest.mock.patch.dict(os.environ, {"PINGFERRY": "/bin/cat"}):
            self.assertEqual(program_path("/bin/ls"), "/bin/ls")
            self.assertEqual(program_path(), "/bin/cat")
        with unittest.mock.patch.dict(os.environ, {"PINGFERRY": "", "PATH": "/nowhere"}):
            self.assertIsNone(program_path())
            self.assertIsNone(program_path("/nowhere/pingferry"))

    def test_text_to_show_has_no_control_characters(self):
        self.assertEqual(shown("a\nb\x1b\u202e\udcffé"), "a\\nb\\x1b\\u202e\\udcffé")


if __name__ == "__main__":
    unittest.main()
