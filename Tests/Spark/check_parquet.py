"""Compares Parquet files of the samples, and of records with hard values, with an SQLite export, as Spark reads them. Compares the rows of
the data source with the records of the program.

    check_parquet.py PROGRAM

Needs PySpark and the installed wheel.
"""

import os
import subprocess
import sys
import tempfile

import pingferry.spark
from pingferry.columns import canonical_line
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, unix_micros

sys.dont_write_bytecode = True
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.append(os.path.join(ROOT, "Tests/Oracles"))
from hard_records import write_records
from oracle import SAMPLES
from parquet_tables import compare, file_of, read_database

TYPES = {"text": "string", "json": "string", "integer": "bigint", "flag": "boolean", "real": "double", "time": "timestamp_ntz"}


def convert(program, output, captures):
    finished = subprocess.run([program, "convert", "--quiet", "-o", output, *captures], stderr=subprocess.DEVNULL)
    # Status 1 is expected for the damaged samples, which contain items that cannot be parsed.
    assert finished.returncode in (0, 1), "convert ended with status %d" % finished.returncode


def read(spark, path, columns):
    """Returns the values of each column."""
    frame = spark.read.parquet(path)
    expected = [(column.name, TYPES[column.kind]) for column in columns]
    assert frame.dtypes == expected, "%s: Spark reads the types %s instead of %s" % (path, frame.dtypes, expected)
    # The time zone of the session is UTC.
    selected = (unix_micros(col("`%s`" % column.name).cast("timestamp")) if column.kind == "time" else col("`%s`" % column.name)
                for column in columns)
    rows = frame.select(*selected).collect()
    return [[row[index] for row in rows] for index in range(len(columns))]


def check(spark, program, name, captures, folder):
    """Compares the Parquet files of captures with their database."""
    database, files = (os.path.join(folder, name + suffix) for suffix in (".sqlite", ".parquet"))
    convert(program, database, captures)
    convert(program, files, captures)
    tables = read_database(database)
    count = sum(compare("Spark", table, columns, read(spark, file_of(files, table), columns)) for table, columns in tables.items())
    print("Spark, %s: %d values in %d tables are equal" % (name, count, len(tables)), flush=True)


def check_captures(spark, program):
    """Compares the rows of captures, which the program of the wheel reads, with the lines of `program`."""
    captures = [os.path.join(ROOT, "samples", name) for name in ("shop", "webxr")]
    expected = subprocess.run([program, "convert", "--quiet", "-o", "-", *captures], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    os.environ["PATH"] = "/nowhere"
    spark.dataSource.register(pingferry.spark.Captures)
    read = pingferry.spark.records(spark.read.format("pingferry").load(captures)).orderBy("part", "line").collect()
    assert [canonical_line(row) for row in read] == expected.stdout.splitlines(), read
    print("Spark: %d rows are equal to the records" % len(read), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        hard = os.path.join(folder, "hard.ndjson")
        write_records(hard)
        # One partition keeps the order of the rows.
        spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
                 .config("spark.sql.session.timeZone", "UTC").getOrCreate())
        spark.sparkContext.setLogLevel("ERROR")
        check(spark, program, "samples", [os.path.join(ROOT, "samples", name) for name in SAMPLES], folder)
        check(spark, program, "hard", [hard], folder)
        check_captures(spark, program)
        spark.stop()


if __name__ == "__main__":
    main()
