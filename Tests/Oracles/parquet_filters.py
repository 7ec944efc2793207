"""Compares the rows that filters of Parquet files find with those of an SQLite export.

Readers skip a row group if its statistics exclude that it contains a value, so that wrong statistics would lose rows. A reader also
can answer aggregates from statistics alone.
"""

from collections import Counter


def select_with_pyarrow(path, keys, column, first, last):
    import pyarrow
    from pyarrow import dataset
    table = dataset.dataset(path)
    first, last = (pyarrow.scalar(value, table.schema.field(column.name).type) for value in (first, last))
    field = dataset.field(column.name)
    condition = field == first if first == last else (field >= first) & (field <= last)
    return zip(*table.to_table(columns=keys, filter=condition).to_pydict().values())


def select_with_duckdb(path, keys, column, first, last):
    import duckdb
    value = "make_timestamp(?)" if column.kind == "time" else "?"
    query = 'SELECT %s FROM read_parquet(?) WHERE "%s" BETWEEN %s AND %s' % (
        ", ".join('"%s"' % key for key in keys), column.name, value, value)
    return duckdb.execute(query, [path, first, last]).fetchall()


def select_with_polars(path, keys, column, first, last):
    import polars
    kind = polars.Datetime("us") if column.kind == "time" else None
    first, last = (polars.lit(value).cast(kind) if kind else polars.lit(value) for value in (first, last))
    field = polars.col(column.name)
    condition = field == first if column.kind == "flag" else field.is_between(first, last)
    return polars.scan_parquet(path).filter(condition).select(keys).collect().rows()


SELECT = {"pyarrow": select_with_pyarrow, "duckdb": select_with_duckdb, "polars": select_with_polars}


def ranges(column, groups):
    """Returns the first and the last value of ranges whose rows are to be found: the bounds of each row group, and some in between."""
    found = set()
    for rows in groups:
        present = sorted(value for value in column.values[rows] if value is not None)
        if present:
            found |= {(present[0], present[0]), (present[-1], present[-1])}
            if column.kind != "flag":
                found.add((present[len(present) // 3], present[len(present) // 2]))
    return found


def check_filters(path, table, columns, groups, readers):
    """Checks filters of all columns except for JSON. `groups` are the ranges of rows in row groups. Returns the number of filters."""
    count = 0
    # The first two columns identify the rows well enough, and none of them is a time.
    keys = list(zip(columns[0].values, columns[1].values))
    for column in columns:
        for first, last in ranges(column, groups) if column.kind != "json" else ():
            expected = Counter(key for key, value in zip(keys, column.values) if value is not None and first <= value <= last)
            for reader in readers:
                found = Counter(SELECT[reader](path, [columns[0].name, columns[1].name], column, first, last))
                assert found == expected, "%s selects %d rows instead of %d of %s, where %s is from %.99r to %.99r" % (
                    reader, sum(found.values()), sum(expected.values()), table, column.name, first, last)
            count += 1
    return count


def check_aggregates(path, table, columns):
    """Checks the least and the greatest value and the number of values of each column in DuckDB."""
    import duckdb
    columns = [column for column in columns if column.kind != "json"]
    terms = {"time": 'epoch_us(min("%s")), epoch_us(max("%s")), count("%s")'}
    selected = ", ".join(terms.get(column.kind, 'min("%s"), max("%s"), count("%s")') % ((column.name,) * 3) for column in columns)
    found = duckdb.execute("SELECT %s FROM read_parquet(?)" % selected, [path]).fetchone()
    for index, column in enumerate(columns):
        present = [value for value in column.values if value is not None]
        expected = (min(present), max(present), len(present)) if present else (None, None, 0)
        assert found[3 * index:3 * index + 3] == expected, "DuckDB aggregates %s.%s to %.99r" % (
            table, column.name, found[3 * index:3 * index + 3])
