"""Reads the outputs of all formats as text, so that a search finds values in them."""

import os
import sqlite3


def text_of(path):
    """Returns the contents of an output as bytes: of a file, of all files in a folder, or of all cells of a database."""
    if os.path.isdir(path):
        return b"\n".join(text_of(os.path.join(path, name)) for name in sorted(os.listdir(path)))
    with open(path, "rb") as stream:
        contents = stream.read()
    if contents.startswith(b"SQLite format 3\0"):
        return contents + cells_of_database(path)
    if contents.startswith(b"PAR1"):
        return contents + cells_of_parquet(path)
    return contents


def cells_of_database(path):
    """Returns all cells of all tables. In the file itself, a long cell is stored in several parts."""
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    database.text_factory = bytes
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = [row for table in tables for row in database.execute('SELECT * FROM "%s"' % table.decode())]
    return b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row)


def cells_of_parquet(path):
    """Returns all cells of a Parquet file, or nothing if pyarrow is not installed. The file itself is compressed."""
    try:
        from pyarrow import parquet
    except ImportError:
        return b""
    rows = parquet.read_table(path).to_pylist()
    return "\n".join(str(cell) for row in rows for cell in row.values()).encode("utf-8", "surrogatepass")
