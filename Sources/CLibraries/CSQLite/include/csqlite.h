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

#endif
