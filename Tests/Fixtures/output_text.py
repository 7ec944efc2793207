"""Reads the outputs of all formats as text, so that a search finds values in them."""

import os
import re
import sqlite3
import subprocess


def text_of(path):
    """Returns the contents of an output as bytes: of a file, of all files in a folder, or of all cells of a database."""
    if os.path.isdir(path):
        return b"\n".join(text_of(os.path.join(path, name)) for name in sorted(os.listdir(path)))
    with open(path, "rb") as stream:
        contents = stream.read()
    if contents.startswith(b"SQLite format 3\0"):
        return contents + cells_of_database(path)
    if contents.startswith(b"PAR1"):
        return contents + pages_of_parquet(contents)
    return contents


def cells_of_database(path):
    """Returns all cells of all tables. In the file itself, a long cell is stored in several parts."""
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    database.text_factory = bytes
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = [row for table in tables for row in database.execute('SELECT * FROM "%s"' % table.decode())]
    return b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row)


def pages_of_parquet(contents):
    """Returns the decompressed pages of a Parquet file. Each page is a zstd frame, after which the program finds no other frame."""
    starts = [found.start() for found in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), contents)]
    return b"".join(
        subprocess.run(["zstd", "-dcq"], input=contents[start:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for start in starts)
