"""Tests of pingferry.program, which run shell scripts with limits. They need neither Spark nor `pingferry`."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import package_path  # noqa: F401
from pingferry.program import MAX_ERROR_LINES, MIB, Limits, printable, program_path, running
from waiting import has_ended, wait_until

SHELL = ["/bin/sh", "-c"]
# A time, in seconds, that no test waits for.
LONG = 600


class RunningTests(unittest.TestCase):
    def run_shell(self, script, **limits):
        """Runs a shell script. Returns its result and its output."""
        with running(SHELL + [script], Limits(**limits)) as (result, output):
            return result, output.read()

    def test_result_has_the_status_and_the_output_of_the_program(self):
        result, output = self.run_shell("printf 'a\\nb\\n'; echo oops >&2; exit 65")
        self.assertEqual((result.status, result.reason, result.error_lines, output), (65, None, ["oops"], b"a\nb\n"))

    def test_program_has_no_input_and_no_terminal(self):
        result, output = self.run_shell("cat; (: < /dev/tty) 2> /dev/null || echo none")
        self.assertEqual((result.status, output), (0, b"none\n"))

    def test_process_group_is_killed_at_the_time_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"sleep {LONG} & echo $! > {folder}/child; echo $$ > {folder}/self; echo before; wait"
            seconds = 1
            result, output = self.run_shell(script, seconds=seconds)
            # On a busy machine, the script can need more time to write its output.
            while not output and seconds < 600:
                seconds *= 2
                result, output = self.run_shell(script, seconds=seconds)
            self.assertIsNone(result.status)
            self.assertIn(f"time limit of {seconds} s", result.reason)
            self.assertEqual(output, b"before\n")
            for name in ("child", "self"):
                with open(os.path.join(folder, name), encoding="ascii") as file:
                    process = int(file.read())
                self.assertTrue(wait_until(lambda: has_ended(process)))

    def test_child_processes_are_killed_when_the_program_has_ended(self):
        result, output = self.run_shell(f"sleep {LONG} > /dev/null & echo $!")
        self.assertEqual((result.status, result.reason), (0, None))
        self.assertTrue(wait_until(lambda: has_ended(int(output))))

    def test_reason_states_the_signal_that_killed_the_program(self):
        result, _ = self.run_shell("kill -ABRT $$")
        self.assertIsNone(result.status)
        self.assertIn("signal 6 (SIGABRT)", result.reason)

    def test_memory_is_limited(self):
        grow = [sys.executable, "-c", "x = bytearray(1 << 30)"]
        with running(grow, Limits(memory=512 * MIB)) as (result, _):
            self.assertEqual((result.status, result.error_lines[-1]), (1, "MemoryError"))
        with running(grow, Limits(memory=4096 * MIB)) as (result, _):
            self.assertEqual(result.status, 0)

    def test_endless_output_is_stopped(self):
        for script in ("exec cat /dev/zero", "trap '' XFSZ; exec cat /dev/zero"):
            with running(SHELL + [script], Limits(output=4 * MIB)) as (result, output):
                self.assertIn("wrote more than 4 MiB (option spool)", result.reason)
                self.assertEqual(output.seek(0, os.SEEK_END), 4 * MIB)

    def test_last_lines_of_standard_error_are_kept_and_escaped(self):
        result, _ = self.run_shell("printf 'x\\033[31m\\377\\r\\302\\240y\\n\\n' >&2; exit 1")
        self.assertEqual(result.error_lines, ["x\\x1b[31m\ufffd\\r\\xa0y"])
        result, _ = self.run_shell("i=0; while [ $i -lt 300 ]; do echo line $i >&2; i=$((i+1)); done")
        self.assertEqual(result.error_lines, [f"line {number}" for number in range(300 - MAX_ERROR_LINES, 300)])
        result, _ = self.run_shell("head -c 1000000 /dev/zero | tr '\\0' a >&2")
        self.assertEqual((len(result.error_lines), result.error_lines[0][:3]), (1, "…aa"))
        self.assertLess(len(result.error_lines[0]), 20_000)

    def test_file_that_is_not_executable_is_an_error(self):
        with self.assertRaises(OSError):
            with running(["/etc/hostname"], Limits()):
                pass

    def test_file_descriptors_are_closed(self):
        before = os.listdir("/proc/self/fd")
        self.run_shell("exit 0")
        self.run_shell(f"sleep {LONG}", seconds=1)
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(before))

    def test_program_is_killed_when_its_worker_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pid")
            worker = subprocess.Popen([sys.executable, "-c", (
                "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])\n"
                "from pingferry.program import Limits, running\n"
                "with running(['/bin/sh', '-c', sys.argv[2]], Limits()): pass"),
                package_path.FOLDER, f"echo $$ > {path}.new; mv {path}.new {path}; exec sleep {LONG}"])
            try:
                self.assertTrue(wait_until(lambda: os.path.exists(path)))
            finally:
                worker.send_signal(signal.SIGKILL)
                worker.wait()
            with open(path, encoding="ascii") as file:
                program = int(file.read())
            self.assertTrue(wait_until(lambda: has_ended(program)))


class SearchTests(unittest.TestCase):
    def test_option_precedes_the_environment_variable_and_the_search_path(self):
        with unittest.mock.patch.dict(os.environ, {"PINGFERRY": "/bin/cat"}):
            self.assertEqual(program_path("/bin/ls"), "/bin/ls")
            self.assertEqual(program_path(), "/bin/cat")
        with unittest.mock.patch.dict(os.environ, {"PINGFERRY": "", "PATH": "/nowhere"}):
            self.assertIsNone(program_path())
            self.assertIsNone(program_path("/nowhere/pingferry"))

    def test_printable_string_has_no_control_characters(self):
        self.assertEqual(printable("a\nb\x1b\u202e\udcffé"), "a\\nb\\x1b\\u202e\\udcffé")


if __name__ == "__main__":
    unittest.main()
