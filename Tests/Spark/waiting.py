"""Waits for conditions, with a time limit."""

import time

TIMEOUT = 60


def wait_until(condition, seconds=TIMEOUT):
    """Waits until a condition is true, but at most `seconds`. Returns whether it became true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def has_ended(process):
    """Returns whether a process has ended. A process for which its parent has not waited yet counts as ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
