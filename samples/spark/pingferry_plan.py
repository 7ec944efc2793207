"""Which captures there are, and what each worker reads of them. Knows nothing of Spark."""

import dataclasses
import glob
import json
import os
import stat
import subprocess

from pingferry_program import MIB, program_path, running
from pingferry_records import labels

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# A bundle with less bytes for each of the segments of a part hardly has more of them than one worker reads.
LEAST_SEGMENT = 64 * 1024
# What a bundle tells of itself may be long; a bundle that tells more is read by one worker.
MOST_LISTED = 64 * MIB


@dataclasses.dataclass(frozen=True)
class Part:
    """What one worker reads: a capture, or some segments of a bundle."""

    # The place of this part among all, from 0: the order of the records of the whole.
    number: int
    path: str
    # What records name the capture.
    label: str
    # Segments of a bundle as `pingferry convert --segments` takes them; None for all that there is.
    segments: str | None = None


def given(path, paths):
    """The patterns of a call of `load`: Spark gives one as it is, and several as a JSON array.

    Raises ValueError where there are none.
    """
    patterns = json.loads(paths) if paths else [path] if path else []
    if not patterns:
        raise ValueError("pingferry reads paths: load() takes one or a list of them")
    return patterns


def captures(patterns):
    """The paths of captures that the patterns mean: in the order of the patterns, for each in that of their bytes.

    A pattern that is the name of something that exists means that, even if it has an asterisk or a bracket in it.

    Raises FileNotFoundError where a pattern means nothing.
    """
    found = []
    for pattern in patterns:
        if os.path.lexists(pattern):
            found.append(pattern)
            continue
        paths = sorted(glob.glob(pattern, recursive=True), key=os.fsencode)
        if not paths:
            raise FileNotFoundError(f"there is no capture {pattern!r}")
        found += paths
    return found


def plan(patterns, program, limits, segments):
    """The parts of all captures.

    - segments: how many segments of a bundle one worker reads at most.
    """
    paths = captures(patterns)
    program = program_path(program)
    parts = []
    for path, label in zip(paths, labels(paths)):
        # Workers run in folders of their own. Dots stay as they are, for links may stand before them.
        full = os.path.join(os.getcwd(), path)
        for piece in pieces(segment_count(full, program, limits, segments), segments):
            parts.append(Part(len(parts), full, label, piece))
    return parts


def pieces(count, most):
    """The ranges of segments, `1-16`, `17-32` and so on; one range that is None where there is nothing to divide."""
    if count <= most:
        return [None]
    return [f"{first}-{min(first + most - 1, count)}" for first in range(1, count + 1, most)]


def segment_count(path, program, limits, segments):
    """How many segments the bundle at a path has; 0 for what is none, is small, or does not tell. Whoever reads the part finds
    out what is wrong with it."""
    if program is None or not is_packed(path, LEAST_SEGMENT * segments):
        return 0
    try:
        with running([program, "list", "--quiet", "--json", "--", path], limits) as (ending, output):
            if ending.status != 0 or ending.reason or os.fstat(output.fileno()).st_size > MOST_LISTED:
                return 0
            return len(json.load(output)["segments"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return 0


def is_packed(path, least):
    """Whether a path leads to a file of some size that begins as a bundle does. Nothing else is opened: a pipe would make the
    driver wait."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size < least:
            return False
        with open(path, "rb") as file:
            return file.read(len(ZSTD_MAGIC)) == ZSTD_MAGIC
    except OSError:
        return False
