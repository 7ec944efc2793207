"""Waits for what has to happen, with a limit."""

import time

MOST_SECONDS = 60


def wait_until(condition, seconds=MOST_SECONDS):
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def has_gone(process):
    """Whether a process has ended; one that nobody waited for yet has too."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
