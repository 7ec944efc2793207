"""The protocol of the checks in this folder.

A check accepts the path of the program to check, by default `.build/debug/pingferry`. It can be run in any folder. Its exit
status is 0 if it passed and 77 if it was left out. In that case the last line on standard output is the reason. Any other status
means that the check failed. A check that leaves out a part of its work prints `left out: PART: REASON` for that part.
"""

import os
import sys

from packages import ROOT, install

LEFT_OUT = 77
# The folders in `samples` that contain stores of telemetry in plain files.
SAMPLES = ["adjust", "damaged", "firefox", "firefox-today", "focus", "leanplum", "shop", "webxr"]


def begin(arguments):
    """Makes the repository the current folder and returns the absolute path of the program to check.

    A path in `arguments` is relative to the folder in which the check was started.
    """
    if len(arguments) > 1:
        sys.exit("usage: %s [PROGRAM]" % os.path.basename(sys.argv[0]))
    program = os.path.abspath(arguments[0]) if arguments else os.path.join(ROOT, ".build/debug/pingferry")
    os.chdir(ROOT)
    if not os.access(program, os.X_OK):
        sys.exit("%s: %s is not a program" % (os.path.basename(sys.argv[0]), program))
    return program


def leave_out(reason):
    """Ends the check as left out."""
    print(reason)
    sys.exit(LEFT_OUT)


def leave_out_part(part, reason):
    """Reports that one part of the check is left out."""
    print("left out: %s: %s" % (part, reason), flush=True)


def require(*requirements, options=()):
    """Installs packages in `.venv`. Ends the check as left out if that fails."""
    failure = install(*requirements, options=options)
    if failure:
        leave_out(failure)


def stopped_clock(time):
    """Returns the words that run a program while its clock stands still at `time`, such as `2026-06-01 02:00:00`.

    The program `faketime` is not used: it fails if a killed process with the same id has left a semaphore.
    """
    return ["env", "LD_PRELOAD=/usr/$LIB/faketime/libfaketimeMT.so.1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME=" + time]
