#ifndef PINGFERRY_CSQLITE_H
#define PINGFERRY_CSQLITE_H

#include <sqlite3.h>

/// The result code if the disk has no space for the shared memory of a database. Swift does not import the macro,
/// because it is an expression.
static const int csqlite_no_space_for_shared_memory = SQLITE_IOERR_SHMSIZE;

/// The files of a database.
enum csqlite_part { csqlite_main, csqlite_journal, csqlite_wal, csqlite_part_count };

/// A copy of a database. SQLite can access only these files.
struct csqlite_copy {
    sqlite3_vfs vfs;
    /// The descriptors of the files, which must stay open until csqlite_close.
    int descriptors[csqlite_part_count];
    /// Whether each file exists from the point of view of SQLite.
    int exists[csqlite_part_count];
    /// The maximum size of each file, in bytes.
    sqlite3_int64 size_limit;
    /// The remaining number of steps of the virtual machine, in thousands.
    sqlite3_int64 budget;
    /// The name of the only table that may be read.
    const char *table;
    /// The first and the end offsets of the missing parts of the database, in ascending order, or a null pointer.
    const sqlite3_int64 *missing;
    /// The number of missing parts.
    sqlite3_int64 missing_count;
    char name[32];
};

/// Opens the copy for reading and writing with all protections enabled and low limits. `copy` and the name of its table
/// must stay at their addresses until csqlite_close. Returns an SQLite result code. The connection must be closed even
/// if an error is returned.
int csqlite_open(struct csqlite_copy *copy, sqlite3 **connection);

/// Closes the connection. All statements must be finalized before.
void csqlite_close(struct csqlite_copy *copy, sqlite3 *connection);

#endif
