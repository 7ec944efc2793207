"""The tables of an SQLite export in the form in which readers of Parquet files return them.

A column is a list of values: times are microseconds since 1970, and flags are booleans.
"""

import datetime
import os
import sqlite3
import struct
from typing import NamedTuple

# The columns of times, whose type in SQLite is that of all text.
TIMES = {
    ("records", "time"), ("repeats", "time"), ("events", "time"), ("events", "at"), ("clients", "first"), ("clients", "last"),
    ("gaps", "time_before"), ("gaps", "time_after"), ("queues", "at"), ("sift_states", "location_time"),
    ("sift_states", "heading_time"), ("sift_readings", "time")}
KINDS = {"TEXT": "text", "TEXT, JSON": "json", "INTEGER": "integer", "INTEGER, 0 or 1": "flag", "REAL": "real"}
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Column(NamedTuple):
    """A column of a table: its name, the kind of its values, whether it has no NULL, and its values."""
    name: str
    kind: str
    is_required: bool
    values: list


def kind_of(table, name, description):
    """Returns the kind of a column and whether it is required, from the description of its type in the table `columns`."""
    kind = KINDS[description.removesuffix(" or NULL")]
    return "time" if (table, name) in TIMES else kind, not description.endswith(" or NULL")


def converted(value, kind):
    if value is None:
        return None
    if kind == "time":
        return (datetime.datetime.fromisoformat(value.replace("Z", "+00:00")) - EPOCH) // datetime.timedelta(microseconds=1)
    return bool(value) if kind == "flag" else value


def read_database(path):
    """Returns the columns of each table of an SQLite export. The rows are in the order of the key."""
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    descriptions = {(table, name): text for table, name, text in connection.execute('SELECT "table", "column", type FROM columns')}
    tables = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        names = [row[1] for row in connection.execute("PRAGMA table_info(%s)" % table)]
        rows = connection.execute("SELECT * FROM %s" % table).fetchall()
        tables[table] = []
        for index, name in enumerate(names):
            kind, is_required = kind_of(table, name, descriptions[table, name])
            tables[table].append(Column(name, kind, is_required, [converted(row[index], kind) for row in rows]))
    connection.close()
    return tables


def file_of(folder, table):
    return os.path.join(folder, table + ".parquet")


def comparable(values, kind):
    """Returns the values such that 0.0 and -0.0, or 1 and True, are not equal."""
    if kind == "real":
        return [None if value is None else struct.pack(">d", value) for value in values]
    return [(type(value), value) for value in values]


def compare(reader, table, columns, found):
    """Compares the columns of a table with the values that a reader has found, in the same order. Returns the number of values."""
    if table == "meta":
        # Only in this table, the rows of a file are not in the order of the key.
        found = list(zip(*sorted(zip(*found))))
    for column, values in zip(columns, found, strict=True):
        place = "%s: %s.%s" % (reader, table, column.name)
        assert len(values) == len(column.values), "%s has %d rows instead of %d" % (place, len(values), len(column.values))
        pairs = zip(comparable(column.values, column.kind), comparable(values, column.kind))
        for row, (expected, value) in enumerate(pairs):
            assert expected == value, "%s, row %d: %r instead of %r" % (place, row, values[row], column.values[row])
    return sum(len(column.values) for column in columns)
