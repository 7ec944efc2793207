"""A data source for Apache Spark that reads captures.

    import pingferry.spark
    spark.dataSource.register(pingferry.spark.Captures)
    read = spark.read.format("pingferry").load("captures/*")
    records = pingferry.spark.without_duplicates(pingferry.spark.records(read))
    statuses = pingferry.spark.statuses(read)

`Captures` documents the rows and the options.
"""

from __future__ import annotations

import dataclasses
import socket
import subprocess
import sys
import zipimport

import pyarrow
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType, DoubleType, IntegerType, LongType, MapType, StringType, StructField, StructType)

from pingferry.columns import APP_KEYS, REPEATED_ID_CODE, REPEATED_ID_CODES, REPEATED_ID_TEXT, NotARecord, parse_record
from pingferry.plan import load_patterns, plan
from pingferry.program import MIB, Limits, Result, printable, program_path, running

# The number of rows, and of bytes in lines, at which a batch is passed to Spark.
MAX_BATCH_ROWS = 10_000
MAX_BATCH_BYTES = 8 * MIB


def struct(**types):
    return StructType([StructField(name, kind) for name, kind in types.items()])


STRING, STRINGS, INTEGER = StringType(), ArrayType(StringType()), LongType()
STATUS = struct(
    capture=STRING, segments=STRING, outcome=STRING, exit=IntegerType(), reason=STRING, problems=STRINGS, records=INTEGER,
    left_out=INTEGER, seconds=DoubleType(), worker=STRING)
SCHEMA = struct(
    part=IntegerType(), line=INTEGER, system=STRING, type=STRING, id=STRING, client=STRING, time=STRING,
    app=struct(**dict.fromkeys(APP_KEYS, STRING)),
    target=struct(headers=MapType(STRING, STRING), method=STRING, path=STRING), payload=STRING,
    source=struct(capture=STRING, index=INTEGER, path=STRING, store=STRING), notes=STRINGS, held=STRINGS, status=STATUS)


class Captures(DataSource):
    """The rows of captures and bundles: one for each record, and one for each part that a worker read.

    A part is a capture, or a range of segments of a bundle. The columns of a record are the keys of the record format, where
    `payload` is JSON as a string, byte by byte as in the line. The columns `part` and `line` determine the order of the records.
    The last row of each part has only the columns `part` and `status`. The fields of `status` are:

    - `capture`, `segments`: the path of the capture and the range of segments.
    - `outcome`: `whole`, `incomplete` if some of the part could not be read, or `failed` if it has no rows.
    - `exit`: the exit status of `pingferry convert`, or null if it was killed or not started.
    - `reason`: why the part is not whole, unless the exit status and `problems` state it.
    - `problems`: the last lines that the program wrote to standard error.
    - `records`, `left_out`: the numbers of records and of omitted lines.
    - `seconds`, `worker`: the elapsed time and the name of the machine.

    Paths are local paths, or paths on a mounted file system, and are the same on all machines. They can be patterns of `glob`.
    `load()` accepts a path or a list of paths. The options, with their defaults in parentheses, are:

    - `program`: the path of the program on the workers (the environment variable PINGFERRY, or the program of the wheel).
    - `timeout`: the time limit for a part, in seconds (600).
    - `memory`: the maximum address space of the program, in MiB (1024).
    - `spool`: the maximum size of the records of a part on the disk of a worker, in TMPDIR, in MiB (8192).
    - `segments`: the maximum number of segments of a bundle, of 256 KiB each, in a part (256).
    - `record`: the maximum size of a record, in MiB. Larger records are omitted and counted (16).
    """

    @classmethod
    def name(cls):
        return "pingferry"

    def schema(self):
        return SCHEMA

    def reader(self, schema):
        if schema != SCHEMA:
            raise ValueError("pingferry has fixed columns; use select() to choose columns")
        return CapturesReader(settings(self.options))


@dataclasses.dataclass(frozen=True)
class Settings:
    """The values of the options."""

    patterns: list[str]
    program: str | None
    limits: Limits
    segments: int
    record: int


def settings(options):
    """Returns the values of the options.

    Raises ValueError if an option is unknown or its value is invalid.
    """
    known = {"path", "paths", "program", "timeout", "memory", "spool", "segments", "record"}
    unknown = sorted(set(map(str.lower, options)) - known)
    if unknown:
        raise ValueError(f"unknown options: {', '.join(unknown)}; the options of pingferry are {', '.join(sorted(known))}")

    def number(name, default, maximum=1_000_000):
        text = str(options.get(name, default))
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= maximum):
            raise ValueError(f"the option {name} must be an integer from 1 to {maximum}, not {text!r}")
        return int(text)

    patterns = load_patterns(options.get("path"), options.get("paths"))
    limits = Limits(number("timeout", 600), number("memory", 1024) * MIB, number("spool", 8192) * MIB)
    return Settings(patterns, options.get("program"), limits, number("segments", 256), number("record", 16, 1024) * MIB)


class CapturesPart(InputPartition):
    """A part in the form in which Spark sends it to a worker."""

    def __init__(self, part):
        super().__init__(part)


class CapturesReader(DataSourceReader):
    """Plans the parts on the driver, and reads them on the workers."""

    def __init__(self, settings):
        self.settings = settings

    def partitions(self):
        settings = self.settings
        parts = plan(settings.patterns, settings.program, settings.limits, settings.segments)
        return [CapturesPart(part) for part in parts]

    def read(self, partition):
        """Yields the rows of a part in batches.

        The rows are passed on only after the program has ended. All failures are reported in the last row.
        """
        forget_zip_importers()
        part, rows = partition.value, Rows(partition.value.number)
        result = None
        try:
            program = program_path(self.settings.program)
            if program is None:
                raise FileNotFoundError(
                    f"there is no program {self.settings.program or 'pingferry'} on this worker: install the wheel on all "
                    "workers, or state the path of the program with the option program")
            with running(command(program, part), self.settings.limits) as (result, output):
                if result.reason is None and result.status in (0, 1):
                    yield from rows.batches(output, self.settings.record)
        except (OSError, subprocess.SubprocessError) as error:
            result = Result(None, str(error), [])
        yield rows.last_batch(status(part, result, rows))


def forget_zip_importers():
    """Removes the cached importers of zip archives.

    Before each task, Spark invalidates the caches of all importers, so that each importer of `pyspark.zip` reads the archive again.
    This takes more than 0.1 s. Removed importers are created again when they are needed.
    """
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            sys.path_importer_cache.pop(path, None)


def command(program, part):
    words = [program, "convert", "--quiet", "--jobs", "1", "-o", "-", f"--label={part.label}"]
    if part.segments:
        words += ["--segments", part.segments]
    return words + ["--", part.path]


def status(part, result, rows):
    """Returns the status of a part, with the fields of `STATUS`."""
    has_rows = result.reason is None and result.status in (0, 1)
    reason = result.reason
    if rows.left_out:
        reason = f"{rows.left_out} lines left out, the first of them because: {rows.first_fault}"
    elif not has_rows and reason is None:
        # The last lines are the error and the hint.
        reason = "; ".join(result.error_lines[-3:]) or f"pingferry ended with status {result.status} without a message"
    is_whole = has_rows and result.status == 0 and not rows.left_out
    return {
        "capture": printable(part.path), "segments": part.segments,
        "outcome": "whole" if is_whole else "incomplete" if has_rows else "failed", "exit": result.status,
        "reason": reason, "problems": result.error_lines, "records": rows.count, "left_out": rows.left_out,
        "seconds": result.seconds, "worker": socket.gethostname()}


class Rows:
    """Converts lines to batches of rows. Only the rows of one batch are in memory."""

    def __init__(self, part):
        self.part = part
        self.count = 0
        # The number of omitted lines, and the reason for the first of them.
        self.left_out = 0
        self.first_fault = None
        self.schema = to_arrow_schema(SCHEMA)
        self.begin_batch()

    def begin_batch(self):
        self.columns = {name: [] for name in self.schema.names}
        self.bytes = 0

    def batches(self, file, max_bytes):
        """Yields all batches of a file of records, except for the last one, which `last_batch` returns.

        `max_bytes` is the maximum size of a record.
        """
        number = 0
        while line := file.readline(max_bytes + 1):
            try:
                if len(line) > max_bytes and not line.endswith(b"\n"):
                    skip_line(file)
                    raise NotARecord(f"line {number + 1} has more than {max_bytes // MIB} MiB (option record)")
                self.add(parse_record(line.rstrip(b"\n")), number, len(line))
            except NotARecord as fault:
                self.left_out += 1
                self.first_fault = self.first_fault or printable(str(fault))
            number += 1
            if len(self.columns["part"]) >= MAX_BATCH_ROWS or self.bytes >= MAX_BATCH_BYTES:
                yield self.batch()

    def add(self, record, number, size):
        target = record["target"]
        if target and "headers" in target:
            target["headers"] = list(target["headers"].items())
        record.update(part=self.part, line=number)
        for name, column in self.columns.items():
            column.append(record.get(name))
        self.bytes += size
        self.count += 1

    def batch(self):
        """Returns the current batch and begins a new one."""
        arrays = [pyarrow.array(self.columns[field.name], field.type) for field in self.schema]
        self.begin_batch()
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)

    def last_batch(self, status):
        """Returns the remaining rows and the row of the status."""
        for name, column in self.columns.items():
            column.append({"part": self.part, "status": status}.get(name))
        return self.batch()


def skip_line(file):
    """Reads and discards the rest of the current line."""
    while (piece := file.readline(MIB)) and not piece.endswith(b"\n"):
        pass


# MARK: Using the rows


def records(read):
    """Returns the rows that are records."""
    return read.where(F.col("status").isNull()).drop("status")


def statuses(read):
    """Returns the statuses, one row for each part."""
    return read.where(F.col("status").isNotNull()).select("part", "status.*")


def without_duplicates(records):
    """Returns the records that a bundle of all captures contains, with the same lines.

    Of records with equal system, type, id and payload, the first is kept, in the order of the captures and of the records in each.
    A record that has the id of an earlier record, but another payload, gets a note, unless it already has that note.
    """
    key = ["system", "type", "id"]
    same_id = Window.partitionBy(key).orderBy("part", "line")
    same_payload = Window.partitionBy(key + ["payload_hash"]).orderBy("part", "line")
    codes = F.create_map([F.lit(word) for pair in REPEATED_ID_CODES.items() for word in pair])
    code = F.coalesce(codes[F.col("system")], F.lit(REPEATED_ID_CODE))
    is_noted = F.exists("notes", lambda note: F.startswith(note, code))
    note = F.concat(code, F.lit(" " + REPEATED_ID_TEXT))
    noted = F.when((F.col("place") > 1) & ~is_noted, F.concat(F.array(note), "notes")).otherwise(F.col("notes"))
    # The rows of a key are sent to one worker once, which computes both windows.
    return (
        records.repartition(*key).withColumn("payload_hash", F.sha2("payload", 256))
        .withColumn("place", F.row_number().over(same_payload)).where("place = 1")
        .withColumn("place", F.row_number().over(same_id)).withColumn("notes", noted)
        .drop("payload_hash", "place"))
