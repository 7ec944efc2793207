"""Finds captures and divides them into parts, each of which one worker reads. Does not depend on Spark."""

from __future__ import annotations

import dataclasses
import glob
import json
import os
import stat
import subprocess

from pingferry.columns import labels
from pingferry.program import MIB, program_path, running

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# The minimum size, in bytes, that a compressed segment is expected to have. Smaller bundles are assumed to have few segments and
# are not divided.
MIN_SEGMENT_BYTES = 4 * 1024
# The maximum size of the output of `pingferry list`, in bytes. A bundle with a longer list is not divided.
MAX_LIST_BYTES = 64 * MIB


@dataclasses.dataclass(frozen=True)
class Part:
    """The unit that one worker reads: a capture, or a range of segments of a bundle."""

    # The index of this part among all parts, which determines the order of the records.
    number: int
    path: str
    # The name of the capture in records.
    label: str
    # A range of segments in the form that `pingferry convert --segments` accepts, or None for the whole capture.
    segments: str | None = None


def load_patterns(path, paths):
    """Returns the patterns that were passed to `load()`.

    Spark passes a single pattern as `path`, and several patterns as the JSON array `paths`.

    Raises ValueError if there are none.
    """
    patterns = json.loads(paths) if paths else [path] if path else []
    if not patterns:
        raise ValueError("load() needs the path of a capture, or a list of paths")
    return patterns


def capture_paths(patterns):
    """Returns the paths that match the patterns, in the order of the patterns. The matches of one pattern are sorted by bytes.

    A pattern that is the name of an existing file matches only that file, even if it contains an asterisk or a bracket.

    Raises FileNotFoundError if a pattern matches nothing.
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
    """Returns the parts of all captures. `segments` is the maximum number of segments of a bundle in one part."""
    paths = capture_paths(patterns)
    program = program_path(program)
    parts = []
    for path, label in zip(paths, labels(paths)):
        # The path is absolute, because workers run in other folders. `..` is not resolved, because it can follow a symbolic link.
        full = os.path.join(os.getcwd(), path)
        for segment_range in segment_ranges(segment_count(full, program, limits, segments), segments):
            parts.append(Part(len(parts), full, label, segment_range))
    return parts


def segment_ranges(count, size):
    """Returns ranges of at most `size` segments, such as `1-256` and `257-512`, or `[None]` if one range contains all segments."""
    if count <= size:
        return [None]
    return [f"{first}-{min(first + size - 1, count)}" for first in range(1, count + 1, size)]


def segment_count(path, program, limits, segments):
    """Returns the number of segments of a bundle.

    Returns 0 if the file is small, is not a bundle, or cannot be listed. The worker that reads it reports what is wrong with it.
    """
    if program is None or not is_compressed(path, MIN_SEGMENT_BYTES * segments):
        return 0
    try:
        with running([program, "list", "--quiet", "--json", "--", path], limits) as (result, output):
            if result.status != 0 or result.reason or os.fstat(output.fileno()).st_size > MAX_LIST_BYTES:
                return 0
            return len(json.load(output)["segments"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return 0


def is_compressed(path, size):
    """Returns whether a path is that of a regular file of at least `size` bytes in the format of zstd.

    Other files are not opened, because opening a pipe could block the driver.
    """
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size < size:
            return False
        with open(path, "rb") as file:
            return file.read(len(ZSTD_MAGIC)) == ZSTD_MAGIC
    except OSError:
        return False
