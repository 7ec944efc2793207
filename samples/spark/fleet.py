#!/usr/bin/env python3
"""Reads captures on all machines of a cluster and writes their records as Parquet, in a folder for each system, type and day.

    spark-submit --master spark://driver:7077 fleet.py -o records.parquet 'captures/*'

Duplicate records are written once. Captures that could not be read completely are printed and, with --summary, written as JSON.

Exit status: 0 if all captures were read; 1 if some data could not be read or parsed; 64 invalid command line; 66 capture not found;
73 the output exists, would have too many folders, or cannot be created; 74 the job failed. The output is complete only with status
0 or 1.
"""

import argparse
import json
import sys

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import pingferry.spark
from pingferry.plan import capture_paths

FOLDERS = ["system", "type", "day"]
# The maximum numbers of incomplete parts in the summary and on standard error, and of characters of an error.
MAX_LISTED = 1000
MAX_PRINTED = 20
MAX_ERROR_LENGTH = 4000
# Records can be large. Therefore Parquet checks its memory after each row instead of every hundred rows, and the staged rows
# are read one by one instead of by the thousand.
WRITE_OPTIONS = {
    "parquet.page.size.check.estimate": "false", "parquet.page.size.row.check.min": "1", "parquet.block.size.row.check.min": "1",
    "parquet.block.size.row.check.max": "4"}
READ_SETTINGS = {"spark.sql.parquet.enableVectorizedReader": "false"}


class FleetError(Exception):
    """An error that ends the program, with its exit status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def main():
    arguments = parse_arguments()
    try:
        capture_paths(arguments.captures)
        pingferry.spark.settings({"paths": json.dumps(arguments.captures), **options(arguments.option)})
        # The records are personal data, so only the owner of the output may read them.
        spark = SparkSession.builder.appName("pingferry").config("spark.hadoop.fs.permissions.umask-mode", "077").getOrCreate()
        try:
            summary = run(spark, arguments)
        finally:
            spark.stop()
        report(summary)
        if arguments.summary:
            write_json(summary, arguments.summary)
    except FileNotFoundError as error:
        return fail(FleetError(66, str(error)))
    except ValueError as error:
        return fail(FleetError(64, str(error)))
    except (PySparkException, Py4JError) as error:
        return fail(FleetError(74, f"the job failed, and its output is incomplete: {str(error)[:MAX_ERROR_LENGTH]}"))
    except FleetError as error:
        return fail(error)
    return 0 if summary["outcomes"].keys() <= {"whole"} else 1


def fail(error):
    """Prints an error and returns its exit status."""
    print(f"fleet: {error}", file=sys.stderr)
    return error.status


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = lambda message: sys.exit(fail(FleetError(64, message)))
    parser.add_argument("captures", nargs="+", help="paths of captures, or patterns in quotation marks")
    parser.add_argument("-o", "--output", required=True, help="the folder to write")
    parser.add_argument("--summary", metavar="FILE", help="also write the summary as JSON on the driver")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE",
        help="an option of the data source: program, timeout, memory, spool, segments, record")
    parser.add_argument("--folders", type=int, default=20_000, help="the maximum number of folders of the output (%(default)s)")
    return parser.parse_args()


def run(spark, arguments):
    """Reads the captures, writes the records, and returns the summary."""
    output, staging = arguments.output, arguments.output.rstrip("/") + ".staging"
    for path in (output, staging):
        if Storage(spark, path).exists():
            raise FleetError(73, f"{path} exists")
    for name, value in READ_SETTINGS.items():
        spark.conf.set(name, value)
    spark.dataSource.register(pingferry.spark.Captures)
    read = spark.read.format("pingferry").options(**options(arguments.option)).load(arguments.captures)
    try:
        # The rows are staged, so that each capture is read only once, even if a worker is lost later.
        read.write.options(**WRITE_OPTIONS).parquet(staging)
        staged = spark.read.schema(read.schema).parquet(staging)
        write(pingferry.spark.records(staged), arguments)
        return summarize(spark, pingferry.spark.statuses(staged), output)
    finally:
        Storage(spark, staging).delete()


def options(given):
    pairs = [text.partition("=") for text in given]
    if not all(mark for _, mark, _ in pairs):
        raise FleetError(64, "--option needs NAME=VALUE")
    return {name: value for name, _, value in pairs}


class Storage:
    """A path in the file system that Spark uses for it."""

    def __init__(self, spark, path):
        self.path = spark._jvm.org.apache.hadoop.fs.Path(path)
        self.system = self.path.getFileSystem(spark._jsc.hadoopConfiguration())

    def exists(self):
        return self.system.exists(self.path)

    def delete(self):
        self.system.delete(self.path, True)


def write(records, arguments):
    days = records.withColumn("day", F.substring("time", 1, 10))
    # Captures determine the types. The limit prevents a capture with invented types from creating millions of folders.
    if days.select(FOLDERS).distinct().limit(arguments.folders + 1).count() > arguments.folders:
        raise FleetError(73, f"the output would have more than {arguments.folders} folders (--folders)")
    kept = pingferry.spark.without_duplicates(days)
    kept.hint("rebalance", *FOLDERS).write.options(**WRITE_OPTIONS).partitionBy(FOLDERS).parquet(arguments.output)


def summarize(spark, statuses, output):
    """Returns the numbers of captures, parts and records, and the parts that are not whole."""
    totals = statuses.agg(
        F.count_distinct("capture"), F.count("*"), F.coalesce(F.sum("records"), F.lit(0)),
        F.coalesce(F.sum("left_out"), F.lit(0))).first()
    # The names of folders are read as strings, because a type can look like a number.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    written = spark.read.schema(", ".join(f"{name} string" for name in FOLDERS)).parquet(output)
    counts = {(row.system, row.type): row["count"] for row in written.groupBy("system", "type").count().collect()}
    failed = statuses.where("outcome != 'whole'").orderBy("part").limit(MAX_LISTED).collect()
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
        raise FleetError(73, f"the records are written, but the summary cannot be written: {error}") from error


def report(summary):
    """Prints the summary on standard output, and the parts that are not whole on standard error."""
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(summary["outcomes"].items()))
    print(f"read {summary['captures']} captures in {summary['parts']} parts: {outcomes}")
    print(f"wrote {summary['output']}: {summary['written']} records, {summary['duplicates']} duplicates left out")
    for status in summary["not_whole"][:MAX_PRINTED]:
        part = f" (segments {status['segments']})" if status["segments"] else ""
        print(f"fleet: {status['capture']}{part}: {status['outcome']}: {short_reason(status)[:400]}", file=sys.stderr)
    more = sum(count for name, count in summary["outcomes"].items() if name != "whole") - MAX_PRINTED
    if more > 0:
        print(f"fleet: and {more} more", file=sys.stderr)


def short_reason(status):
    """Returns why a part is not whole. If there are several reasons, returns the first. The summary lists all of them."""
    first, *more = status["problems"] or [""]
    return status["reason"] or (f"{first} (and {len(more)} more)" if more else first)


if __name__ == "__main__":
    sys.exit(main())
