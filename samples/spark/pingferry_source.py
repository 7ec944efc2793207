"""A data source of Apache Spark for captures: `spark.read.format("pingferry").load("captures/*")`.

    import pingferry_source
    pingferry_source.register(spark)
    read = spark.read.format("pingferry").load("captures/*")
    records = pingferry_source.without_duplicates(pingferry_source.records(read))
    statuses = pingferry_source.statuses(read)

See `Captures` for the rows and the options.
"""

import dataclasses
import os
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

import pingferry_plan
import pingferry_program
import pingferry_records
from pingferry_program import MIB, Limits
from pingferry_records import REPEATED_ID_CODE, REPEATED_ID_CODES, REPEATED_ID_WORDS, NotARecord

MOST_ROWS = 10_000
MOST_BYTES = 8 * MIB


def struct(**types):
    return StructType([StructField(name, kind) for name, kind in types.items()])


TEXT, TEXTS, WHOLE = StringType(), ArrayType(StringType()), LongType()
STATUS = struct(
    capture=TEXT, segments=TEXT, outcome=TEXT, exit=IntegerType(), reason=TEXT, problems=TEXTS, records=WHOLE, left_out=WHOLE,
    seconds=DoubleType(), worker=TEXT)
SCHEMA = struct(
    part=IntegerType(), line=WHOLE, system=TEXT, type=TEXT, id=TEXT, client=TEXT, time=TEXT,
    app=struct(**dict.fromkeys(pingferry_records.APP_KEYS, TEXT)),
    target=struct(headers=MapType(TEXT, TEXT), method=TEXT, path=TEXT), payload=TEXT,
    source=struct(capture=TEXT, index=WHOLE, path=TEXT, store=TEXT), notes=TEXTS, held=TEXTS, status=STATUS)


class Captures(DataSource):
    """Captures and bundles as rows: one for each record, and one for each part that a worker read.

    A part is a capture, or some segments of a bundle. Its records have the keys that the contract of records names (`payload` is
    its text, byte for byte), and `part` and `line`: their place among all. Its last row has the column `status` and no record:

    - `capture`, `segments`: what was read.
    - `outcome`: `whole`; `incomplete` if some of it could not be read or understood; `failed` if nothing came of it.
    - `exit`: the status of `pingferry convert`; null if it did not end by itself.
    - `reason`: why it is not whole, where the status alone does not say it.
    - `problems`: the last lines that the program wrote to standard error.
    - `records`, `left_out`: how many records came of it, and how many lines did not.
    - `seconds`, `worker`: how long it took, on which machine.

    Paths are local or on a mounted file system, the same on all machines. They may have the patterns of `glob`; a list of paths
    is as good as one. Options:

    - `program`: where `pingferry` is on the workers. Otherwise the variable PINGFERRY says it, or the search path.
    - `timeout`: seconds that one part may take (600).
    - `memory`: MiB of address space that the program may take for one part (1024).
    - `spool`: MiB that the records of one part may take on the disk of a worker, in TMPDIR (8192).
    - `segments`: how many segments of a bundle, of 4 MiB each, one worker reads (16).
    - `record`: MiB of the largest record that becomes a row; larger ones are left out and counted (16).
    """

    @classmethod
    def name(cls):
        return "pingferry"

    def schema(self):
        return SCHEMA

    def reader(self, schema):
        if schema != SCHEMA:
            raise ValueError("the columns of pingferry are fixed: choose among them with select()")
        return CapturesReader(settings(self.options))


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the options say."""

    patterns: list[str]
    program: str | None
    limits: Limits
    segments: int
    record: int


def settings(options):
    """Reads the options.

    Raises ValueError for one that is not known, or is no number where one has to be.
    """
    known = {"path", "paths", "program", "timeout", "memory", "spool", "segments", "record"}
    unknown = sorted(set(map(str.lower, options)) - known)
    if unknown:
        raise ValueError(f"pingferry has no option {', '.join(unknown)}; it has {', '.join(sorted(known))}")

    def number(name, default, most=1_000_000):
        text = str(options.get(name, default))
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
            raise ValueError(f"the option {name} is a whole number from 1 to {most}, not {text!r}")
        return int(text)

    patterns = pingferry_plan.given(options.get("path"), options.get("paths"))
    limits = Limits(number("timeout", 600), number("memory", 1024) * MIB, number("spool", 8192) * MIB)
    return Settings(patterns, options.get("program"), limits, number("segments", 16), number("record", 16, 1024) * MIB)


class CapturesPart(InputPartition):
    """A part as Spark hands it to a worker."""

    def __init__(self, part):
        super().__init__(part)


class CapturesReader(DataSourceReader):
    """Plans the parts on the driver, and reads them on the workers."""

    def __init__(self, settings):
        self.settings = settings

    def partitions(self):
        chosen = self.settings
        return [
            CapturesPart(part)
            for part in pingferry_plan.plan(chosen.patterns, chosen.program, chosen.limits, chosen.segments)]

    def read(self, partition):
        """The rows of a part, in batches. Nothing is handed on before all of it was read; whatever goes wrong is told in the
        last row."""
        forget_zip_importers()
        part, rows = partition.value, Rows(partition.value.number)
        ending = None
        try:
            program = pingferry_program.program_path(self.settings.program)
            if program is None:
                raise FileNotFoundError(
                    f"there is no program {self.settings.program or 'pingferry'} on this worker: install pingferry on all of "
                    "them, or tell where it is with the option program")
            with pingferry_program.running(command(program, part), self.settings.limits) as (ending, output):
                if ending.reason is None and ending.status in (0, 1):
                    yield from rows.of(output, self.settings.record)
        except (OSError, subprocess.SubprocessError) as error:
            ending = pingferry_program.Ending(None, str(error), [])
        yield rows.last(status(part, ending, rows))


def forget_zip_importers():
    """Before each task Spark has Python look into archives of modules anew, into its own `pyspark.zip` once for each of a dozen
    packages: a tenth of a second and more. Importers that are forgotten are not asked, and are made again when one is needed."""
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            sys.path_importer_cache.pop(path, None)


def command(program, part):
    words = [program, "convert", "--quiet", "--jobs", "1", "-o", "-", f"--label={part.label}"]
    if part.segments:
        words += ["--segments", part.segments]
    return words + ["--", part.path]


def status(part, ending, rows):
    """The status of a part, as the columns of `STATUS`."""
    has_rows = ending.reason is None and ending.status in (0, 1)
    reason = ending.reason
    if rows.left_out:
        reason = f"{rows.left_out} lines left out, the first of them because: {rows.why}"
    elif not has_rows and reason is None:
        # What went wrong, and what to do about it.
        reason = "; ".join(ending.said[-3:]) or f"pingferry ended with status {ending.status} and said nothing"
    is_whole = has_rows and ending.status == 0 and not rows.left_out
    return {
        "capture": pingferry_program.shown(part.path), "segments": part.segments,
        "outcome": "whole" if is_whole else "incomplete" if has_rows else "failed", "exit": ending.status,
        "reason": reason, "problems": ending.said, "records": rows.count, "left_out": rows.left_out,
        "seconds": ending.seconds, "worker": socket.gethostname()}


class Rows:
    """Makes batches of rows out of lines, of which no more are held than one batch takes."""

    def __init__(self, part):
        self.part = part
        self.count = 0
        # How many lines became no rows, and why the first did not.
        self.left_out = 0
        self.why = None
        self.schema = to_arrow_schema(SCHEMA)
        self.begin()

    def begin(self):
        self.columns = {name: [] for name in self.schema.names}
        self.bytes = 0

    def of(self, file, longest):
        """The batches of a file of records but the last, which is for the status too."""
        number = 0
        while line := file.readline(longest + 1):
            try:
                if len(line) > longest and not line.endswith(b"\n"):
                    skip_line(file)
                    raise NotARecord(f"line {number + 1} has more than {longest // MIB} MiB (option record)")
                self.add(pingferry_records.record(line.rstrip(b"\n")), number, len(line))
            except NotARecord as fault:
                self.left_out += 1
                self.why = self.why or pingferry_program.shown(str(fault))
            number += 1
            if len(self.columns["part"]) >= MOST_ROWS or self.bytes >= MOST_BYTES:
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
        arrays = [pyarrow.array(self.columns[field.name], field.type) for field in self.schema]
        self.begin()
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)

    def last(self, status):
        for name, column in self.columns.items():
            column.append({"part": self.part, "status": status}.get(name))
        return self.batch()


def skip_line(file):
    """Goes on behind the end of the line."""
    while (piece := file.readline(MIB)) and not piece.endswith(b"\n"):
        pass


# MARK: What is made of the rows


def register(spark):
    """Makes the data source known to a session, and takes these modules to its workers."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for module in (pingferry_program, pingferry_records, pingferry_plan):
        spark.sparkContext.addPyFile(os.path.join(folder, module.__name__ + ".py"))
    spark.sparkContext.addPyFile(os.path.abspath(__file__))
    spark.dataSource.register(Captures)


def records(read):
    """The rows that are records."""
    return read.where(F.col("status").isNull()).drop("status")


def statuses(read):
    """The rows that tell how reading went: a row for each part."""
    return read.where(F.col("status").isNotNull()).select("part", "status.*")


def without_duplicates(records):
    """The records that `pingferry bundle` of all captures has, with the same lines.

    Of records with equal system, type, id and payload it keeps the first, in the order of captures and inside each. A record
    whose id an earlier one has too, with another payload, is noted, unless it is noted already.
    """
    key = ["system", "type", "id"]
    same_id = Window.partitionBy(key).orderBy("part", "line")
    same_payload = Window.partitionBy(key + ["payload_hash"]).orderBy("part", "line")
    codes = F.create_map([F.lit(word) for pair in REPEATED_ID_CODES.items() for word in pair])
    code = F.coalesce(codes[F.col("system")], F.lit(REPEATED_ID_CODE))
    is_noted = F.exists("notes", lambda note: F.startswith(note, code))
    note = F.concat(code, F.lit(" " + REPEATED_ID_WORDS))
    noted = F.when((F.col("place") > 1) & ~is_noted, F.concat(F.array(note), "notes")).otherwise(F.col("notes"))
    # The rows of one key come to one worker once; both windows are looked at there.
    return (
        records.repartition(*key).withColumn("payload_hash", F.sha2("payload", 256))
        .withColumn("place", F.row_number().over(same_payload)).where("place = 1")
        .withColumn("place", F.row_number().over(same_id)).withColumn("notes", noted)
        .drop("payload_hash", "place"))
