"""Compares `pingferry convert` of 100,000 ping files to SQLite, CSV and a timeline with converting them to NDJSON, and with DuckDB,
which reads the NDJSON and writes the same table of events."""

import subprocess

import measuring
from measuring import FOLDER, Limit, pingferry

OUTPUTS = {
    "ndjson": FOLDER + "/tables.ndjson", "sqlite": FOLDER + "/tables.sqlite", "csv": FOLDER + "/tables.csv",
    "timesketch": FOLDER + "/tables.timeline.jsonl"}
LIMITS = {"sqlite": Limit(clock=2.0, memory=100e6), "csv": Limit(clock=1.3, memory=100e6)}
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


def run():
    load = measuring.load()
    labeled, database = FOLDER + "/labeled.ndjson", FOLDER + "/events.duckdb"
    subprocess.run(pingferry("convert", "--labels", load, output=labeled), check=True)
    commands = {name: pingferry("convert", load, output=output) for name, output in OUTPUTS.items()}
    commands["DuckDB, NDJSON to events"] = [measuring.python_with("duckdb"), "-c", DUCKDB, labeled, database]
    kept = measuring.compare("convert", commands, LIMITS, outputs=OUTPUTS)
    for path in (*OUTPUTS.values(), labeled, database):
        measuring.remove(path)
    return kept
