#!/usr/bin/env python3
"""Reads captures on all machines of a cluster and writes their records as Parquet, in a folder for each system, type and day:

    spark-submit --master spark://driver:7077 fleet.py -o records.parquet 'captures/*'

Records that several captures have come out once. What could not be read is printed, and written as JSON with --summary.

Exit status: 0 if all was read; 1 if some of it was not, or not understood; 64 usage; 66 no such capture; 73 the output exists,
would have too many folders, or cannot be made; 74 the job failed. All that was read is written with status 0 and 1 alone.
"""

import argparse
import json
import sys

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import pingferry_plan
import pingferry_source

FOLDERS = ["system", "type", "day"]
MOST_NAMED = 1000
MOST_PRINTED = 20
MOST_ERROR = 4000
# A record may be large, and many that follow each other may be: Parquet looks at its memory after each, not after a hundred of
# them, and what was put aside is read row by row, not by the thousand.
WRITING = {
    "parquet.page.size.check.estimate": "false", "parquet.page.size.row.check.min": "1", "parquet.block.size.row.check.min": "1",
    "parquet.block.size.row.check.max": "4"}
READING = {"spark.sql.parquet.enableVectorizedReader": "false"}


class Refused(Exception):
    """Why nothing is done, and the exit status that says it."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


def main():
    arguments = parsed()
    try:
        pingferry_plan.captures(arguments.captures)
        pingferry_source.settings({"paths": json.dumps(arguments.captures), **options(arguments.option)})
        # What is written tells of people: their owner alone reads it.
        spark = SparkSession.builder.appName("pingferry").config("spark.hadoop.fs.permissions.umask-mode", "077").getOrCreate()
        try:
            summary = run(spark, arguments)
        finally:
            spark.stop()
        report(summary)
        if arguments.summary:
            write_json(summary, arguments.summary)
    except FileNotFoundError as error:
        return refuse(Refused(66, str(error)))
    except ValueError as error:
        return refuse(Refused(64, str(error)))
    except (PySparkException, Py4JError) as error:
        return refuse(Refused(74, f"the job failed, and what it wrote is not complete: {str(error)[:MOST_ERROR]}"))
    except Refused as refused:
        return refuse(refused)
    return 0 if summary["outcomes"].keys() <= {"whole"} else 1


def refuse(refused):
    print(f"fleet: {refused}", file=sys.stderr)
    return refused.status


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = lambda words: sys.exit(refuse(Refused(64, words)))
    parser.add_argument("captures", nargs="+", help="paths of captures, or patterns in quotation marks")
    parser.add_argument("-o", "--output", required=True, help="the folder to write")
    parser.add_argument("--summary", metavar="FILE", help="write the summary as JSON too, on the driver")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE",
        help="an option of the data source: program, timeout, memory, spool, segments, record")
    parser.add_argument("--folders", type=int, default=20_000, help="the most folders of the output (%(default)s)")
    return parser.parse_args()


def run(spark, arguments):
    """Reads, writes, and returns the summary."""
    output, staging = arguments.output, arguments.output.rstrip("/") + ".staging"
    for path in (output, staging):
        if Storage(spark, path).exists():
            raise Refused(73, f"{path} exists")
    for name, value in READING.items():
        spark.conf.set(name, value)
    pingferry_source.register(spark)
    read = spark.read.format("pingferry").options(**options(arguments.option)).load(arguments.captures)
    try:
        # Captures are read once: all that follows reads this, also on a worker that takes over from one that died.
        read.write.options(**WRITING).parquet(staging)
        staged = spark.read.schema(read.schema).parquet(staging)
        write(pingferry_source.records(staged), arguments)
        return summarize(spark, pingferry_source.statuses(staged), output)
    finally:
        Storage(spark, staging).delete()


def options(given):
    pairs = [text.partition("=") for text in given]
    if not all(mark for _, mark, _ in pairs):
        raise Refused(64, "--option takes NAME=VALUE")
    return {name: value for name, _, value in pairs}


class Storage:
    """A path on whatever Spark writes to."""

    def __init__(self, spark, path):
        self.path = spark._jvm.org.apache.hadoop.fs.Path(path)
        self.system = self.path.getFileSystem(spark._jsc.hadoopConfiguration())

    def exists(self):
        return self.system.exists(self.path)

    def delete(self):
        self.system.delete(self.path, True)


def write(records, arguments):
    days = records.withColumn("day", F.substring("time", 1, 10))
    # The types come out of captures, and each has a folder: whoever makes them up cannot make millions of folders.
    if days.select(FOLDERS).distinct().limit(arguments.folders + 1).count() > arguments.folders:
        raise Refused(73, f"the output would have more than {arguments.folders} folders (--folders)")
    kept = pingferry_source.without_duplicates(days)
    kept.hint("rebalance", *FOLDERS).write.options(**WRITING).partitionBy(FOLDERS).parquet(arguments.output)


def summarize(spark, statuses, output):
    """What was read and written, and what was not."""
    totals = statuses.agg(
        F.count_distinct("capture"), F.count("*"), F.coalesce(F.sum("records"), F.lit(0)),
        F.coalesce(F.sum("left_out"), F.lit(0))).first()
    # The names of folders stay texts: a type may look like a number.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    written = spark.read.schema(", ".join(f"{name} string" for name in FOLDERS)).parquet(output)
    counts = {(row.system, row.type): row["count"] for row in written.groupBy("system", "type").count().collect()}
    failed = statuses.where("outcome != 'whole'").orderBy("part").limit(MOST_NAMED).collect()
    return {
        "output": output, "captures": totals[0], "parts": totals[1], "read": totals[2], "left_out": totals[3],
        "outcomes": {row.outcome: row["count"] for row in statuses.groupBy("outcome").count().collect()},
        "written": sum(counts.values()), "duplicates": totals[2] - sum(counts.values()),
        "types": {f"{system}/{kind}": count for (system, kind), count in sorted(counts.items(), key=str)},
        "not_whole": [row.asDict() for row in failed]}


def write_json(summary, path):
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(summary, file, ensure_ascii=True, indent=1, sort_keys=True)
            file.write("\n")
    except OSError as error:
        raise Refused(73, f"the records are written, but no summary: {error}") from error


def report(summary):
    """Prints the summary: what was done to standard output, what went wrong to standard error."""
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(summary["outcomes"].items()))
    print(f"read {summary['captures']} captures in {summary['parts']} parts: {outcomes}")
    print(f"wrote {summary['output']}: {summary['written']} records, {summary['duplicates']} duplicates left out")
    for status in summary["not_whole"][:MOST_PRINTED]:
        part = f" (segments {status['segments']})" if status["segments"] else ""
        print(f"fleet: {status['capture']}{part}: {status['outcome']}: {why(status)[:400]}", file=sys.stderr)
    more = sum(count for name, count in summary["outcomes"].items() if name != "whole") - MOST_PRINTED
    if more > 0:
        print(f"fleet: and {more} more", file=sys.stderr)


def why(status):
    """Why a part is not whole, in a few words; all of them are in the summary."""
    first, *more = status["problems"] or [""]
    return status["reason"] or (f"{first} (and {len(more)} more)" if more else first)


if __name__ == "__main__":
    sys.exit(main())
