#ifndef PINGFERRY_CSQLITE_H
#define PINGFERRY_CSQLITE_H

#include <sqlite3.h>

/// What SQLite answers where the disk has no room for what several processes share of a database. Swift does not see its name,
/// which is an expression.
static const int csqlite_no_room_for_shared_memory = SQLITE_IOERR_SHMSIZE;

/// The files that a database consists of.
enum csqlite_part { csqlite_main, csqlite_journal, csqlite_wal, csqlite_part_count };

/// A copy of a database: SQLite sees these files and nothing else of the file system, under any name.
struct csqlite_copy {
    sqlite3_vfs vfs;
    /// Files that nobody else uses, open until csqlite_close and longer.
    int descriptors[csqlite_part_count];
    /// Whether the file exists, as far as SQLite is concerned.
    int exists[csqlite_part_count];
    /// None of them may grow beyond this.
    sqlite3_int64 size_limit;
    /// How often a thousand steps of the virtual machine may still be taken.
    sqlite3_int64 budget;
    /// The one table that may be read.
    const char *table;
    char name[32];
};

/// Opens the copy read-write, with every defence on and every limit low, before anything of it is read. `copy`, and the
/// name of its table, must stay where they are until csqlite_close. An SQLite result code; the connection has to be closed in any case.
int csqlite_open(struct csqlite_copy *copy, sqlite3 **connection);

/// Closes the connection, whose statements must have been finalized.
void csqlite_close(struct csqlite_copy *copy, sqlite3 *connection);

/// What the value of a cell is.
enum csqlite_kind { csqlite_null, csqlite_integer, csqlite_real, csqlite_text };

/// A value of a row that is to be added.
struct csqlite_cell {
    /// The number, the bits of a binary number, or where a text begins.
    sqlite3_int64 number;
    /// How many bytes a text has.
    unsigned length;
    /// One of csqlite_kind.
    unsigned kind;
};

/// Rows that are to be added, cell after cell.
struct csqlite_rows {
    const struct csqlite_cell *cells;
    /// The bytes of all texts, UTF-8.
    const char *text;
    sqlite3_int64 count;
    int columns;
};

/// Makes rows readable under a name, as a table whose columns have no type. What they are may change whenever no statement reads
/// them; they must stay where they are until the connection is closed. An SQLite result code.
int csqlite_lend_rows(sqlite3 *connection, const char *name, const struct csqlite_rows *rows);

#endif
