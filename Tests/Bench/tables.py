"""Compares the conversion of 100,000 ping files to tables with other programs.

The conversions to CSV and to a timeline are compared with that to NDJSON, and with DuckDB, which reads the NDJSON and writes the
same table of events. The conversion to SQLite is compared with `sqlite3`, which imports the CSV files into the same tables.

The conversion to Parquet is compared with that to NDJSON, and with pyarrow, which reads the CSV files and writes the same rows.
The types are the same, and both programs compress with zstd and write statistics, but pyarrow does not parse pings.
"""

import sqlite3
import subprocess

import measuring
from measuring import FOLDER, Limit, pingferry

# The outputs of the conversions, by format.
OUTPUTS = {
    "ndjson": FOLDER + "/tables.ndjson", "sqlite": FOLDER + "/tables.sqlite", "csv": FOLDER + "/tables.csv",
    "parquet": FOLDER + "/tables.parquet", "timesketch": FOLDER + "/tables.timeline.jsonl"}
LIMITS = {
    "sqlite": Limit(memory=100e6), "csv": Limit(clock=3.0, memory=100e6), "parquet": Limit(processor=3.5, memory=120e6),
    "timesketch": Limit(memory=150e6)}
# Building the rows takes as long as writing records, so that this goal is far away.
GOALS = {"parquet": Limit(processor=1.5)}
# Writes the table of events from records in NDJSON: the arguments are the paths of the records and of the database.
DUCKDB = """
import duckdb, os, sys
if os.path.exists(sys.argv[2]):
    os.remove(sys.argv[2])
database = duckdb.connect(sys.argv[2])
database.execute("SET threads = 2")
database.execute('''
CREATE TABLE events AS
WITH records AS (
  SELECT row_number() OVER () AS record, * FROM read_json(?, format = 'newline_delimited', maximum_object_size = 1000000000,
    columns = {system: 'VARCHAR', type: 'VARCHAR', client: 'VARCHAR', time: 'VARCHAR', payload: 'JSON', labels: 'VARCHAR[]'})),
each AS (
  SELECT record, system, type, client, time, labels, event, n FROM (
    SELECT *, unnest(payload->'$.events[*]') AS event, unnest(range(json_array_length(payload->'events')::BIGINT)) AS n
    FROM records WHERE json_array_length(payload->'events') > 0))
SELECT record, n, system, type, client, time, epoch_ms(time::TIMESTAMP) AS time_ms, 'record' AS time_basis,
  (event->>0)::BIGINT AS elapsed_ms, concat_ws('.', event->>1, event->>2, event->>3) AS name, event->>1 AS category,
  event->>2 AS method, event->>3 AS object, event->>4 AS value, (event->5)::VARCHAR AS extra, labels[n + 1] AS label
FROM each ORDER BY record, n''', [sys.argv[1]])
for column in ("client", "time_ms", "type", "name"):
    database.execute("CREATE INDEX events_%s ON events (%s)" % (column, column))
"""

# Writes a Parquet folder from a folder of CSV files: the arguments are these folders, and a Parquet folder with the same types.
PYARROW = """
import os, sys
import pyarrow, pyarrow.csv, pyarrow.parquet
pyarrow.set_cpu_count(2)
source, output, model = sys.argv[1:]
os.makedirs(output, exist_ok=True)
for name in sorted(name for name in os.listdir(model) if name.endswith(".parquet")):
    stored = pyarrow.parquet.read_schema(os.path.join(model, name))
    schema = pyarrow.schema([
        field.with_type(getattr(field.type, "storage_type", field.type)) for field in stored])
    options = pyarrow.csv.ConvertOptions(
        column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
        true_values=["1"], false_values=["0"])
    batches = pyarrow.csv.open_csv(
        os.path.join(source, name.replace(".parquet", ".csv")), convert_options=options,
        read_options=pyarrow.csv.ReadOptions(block_size=16 << 20),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))
    with pyarrow.parquet.ParquetWriter(os.path.join(output, name), schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(pyarrow.record_batch(batch.columns, schema=schema))
"""


def write_import(database, folder, script):
    """Writes a script for `sqlite3` that imports the CSV files in `folder` into the tables and indexes of `database`."""
    with sqlite3.connect(database) as connection:
        schema = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    # In a CSV file, NULL is an empty field, which a STRICT or NOT NULL column rejects.
    tables = [(name, sql.replace("STRICT", "").replace("NOT NULL", "").strip(" ,\n")) for kind, name, sql in schema if kind == "table"]
    with open(script, "w", encoding="utf-8") as file:
        file.write("PRAGMA journal_mode = OFF;\nPRAGMA synchronous = OFF;\n")
        for name, sql in tables:
            file.write("%s;\n" % sql)
        file.write(".mode csv\n")
        for name, _ in tables:
            file.write(".import --skip 1 %s/%s.csv %s\n" % (folder, name, name))
        for kind, _, sql in schema:
            if kind == "index":
                file.write("%s;\n" % sql)


def compare_imports(load):
    """Compares the conversion to SQLite with the import of the CSV files by `sqlite3`."""
    script, imported = FOLDER + "/import.sql", FOLDER + "/imported.sqlite"
    write_import(OUTPUTS["sqlite"], OUTPUTS["csv"], script)
    kept = measuring.compare("tables in SQLite", {
        "sqlite3 .import of the CSV": ["sh", "-c", "rm -f %s && sqlite3 %s < %s" % (imported, imported, script)],
        "convert of the ping files": pingferry("convert", load, output=OUTPUTS["sqlite"]),
    }, {"convert of the ping files": Limit(clock=1.0, processor=1.0)},
        outputs={"sqlite3 .import of the CSV": imported, "convert of the ping files": OUTPUTS["sqlite"]})
    for path in (script, imported):
        measuring.remove(path)
    return kept


def compare_writers(load):
    """Compares the conversion to Parquet with pyarrow, which writes the rows of the CSV files."""
    written = FOLDER + "/written.parquet"
    kept = measuring.compare("tables in Parquet", {
        "pyarrow, CSV to Parquet": [
            measuring.python_with("pyarrow>=15,<23"), "-c", PYARROW, OUTPUTS["csv"], written, OUTPUTS["parquet"]],
        "convert of the ping files": pingferry("convert", load, output=OUTPUTS["parquet"]),
    }, {"convert of the ping files": Limit(processor=2.5)},
        outputs={"pyarrow, CSV to Parquet": written, "convert of the ping files": OUTPUTS["parquet"]})
    measuring.remove(written)
    return kept


def run():
    load = measuring.load()
    labeled, database = FOLDER + "/labeled.ndjson", FOLDER + "/events.duckdb"
    subprocess.run(pingferry("convert", "--labels", load, output=labeled), check=True)
    commands = {name: pingferry("convert", load, output=output) for name, output in OUTPUTS.items()}
    commands["DuckDB, NDJSON to events"] = [measuring.python_with("duckdb"), "-c", DUCKDB, labeled, database]
    kept = measuring.compare("convert", commands, LIMITS, GOALS, outputs=OUTPUTS)
    kept = compare_imports(load) and kept
    kept = compare_writers(load) and kept
    for path in (*OUTPUTS.values(), labeled, database):
        measuring.remove(path)
    return kept
