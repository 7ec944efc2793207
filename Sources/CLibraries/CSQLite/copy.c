// A virtual file system for SQLite that contains only a database, its journal and its write-ahead log.
//
// With the default file system, a malicious journal that names a "super-journal" makes SQLite open, read and delete
// that file at any path. In this file system, such a file does not exist.
#define _GNU_SOURCE
#include "csqlite.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[csqlite_part_count] = {"/database", "/database-journal", "/database-wal"};

struct part {
    sqlite3_file file;
    struct csqlite_copy *copy;
    int number;
};

static int descriptor(sqlite3_file *file) {
    struct part *part = (struct part *)file;
    return part->copy->descriptors[part->number];
}

static int on_close(sqlite3_file *file) { return SQLITE_OK; }

// Returns whether a part of the database is missing, by a binary search for the first missing part that ends later.
static int is_missing(const struct part *part, int count, sqlite3_int64 offset) {
    if (part->number != csqlite_main) return 0;
    sqlite3_int64 low = 0, high = part->copy->missing_count;
    while (low < high) {
        sqlite3_int64 middle = low + (high - low) / 2;
        if (part->copy->missing[2 * middle + 1] > offset) high = middle;
        else low = middle + 1;
    }
    return low < part->copy->missing_count && part->copy->missing[2 * low] < offset + count;
}

static int on_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    // Zeros in place of a missing page could be read as the end of a value.
    if (is_missing((struct part *)file, count, offset)) return SQLITE_CORRUPT;
    int done = 0;
    while (done < count) {
        ssize_t result = pread(descriptor(file), (char *)bytes + done, (size_t)(count - done), offset + done);
        if (result < 0 && errno == EINTR) continue;
        if (result < 0) return SQLITE_IOERR_READ;
        if (result == 0) break;
        done += (int)result;
    }
    if (done == count) return SQLITE_OK;
    memset((char *)bytes + done, 0, (size_t)(count - done));
    return SQLITE_IOERR_SHORT_READ;
}

static int on_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_int64 limit = ((struct part *)file)->copy->size_limit;
    // SQLite exceeds the limit only if the journal is forged.
    if (offset < 0 || offset > limit - count) return SQLITE_CORRUPT;
    int done = 0;
    while (done < count) {
        ssize_t result = pwrite(descriptor(file), (const char *)bytes + done, (size_t)(count - done), offset + done);
        if (result < 0 && errno == EINTR) continue;
        if (result < 0) return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        done += (int)result;
    }
    return SQLITE_OK;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (size < 0 || size > ((struct part *)file)->copy->size_limit) return SQLITE_CORRUPT;
    return ftruncate(descriptor(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size) {
    struct stat status;
    if (fstat(descriptor(file), &status) != 0) return SQLITE_IOERR_FSTAT;
    *size = status.st_size;
    return SQLITE_OK;
}

// Locks and syncs do nothing, because the files are private and need not be durable.
static int on_sync(sqlite3_file *file, int flags) { return SQLITE_OK; }
static int on_lock(sqlite3_file *file, int level) { return SQLITE_OK; }
static int on_check_lock(sqlite3_file *file, int *result) {
    *result = 0;
    return SQLITE_OK;
}
static int on_control(sqlite3_file *file, int operation, void *argument) { return SQLITE_NOTFOUND; }
static int on_sector_size(sqlite3_file *file) { return 4096; }
static int on_characteristics(sqlite3_file *file) { return 0; }

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_lock,
    .xCheckReservedLock = on_check_lock,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
};

static int number_of(const char *name) {
    for (int number = 0; name && number < csqlite_part_count; number++)
        if (strcmp(name, names[number]) == 0) return number;
    return -1;
}

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *actual) {
    struct csqlite_copy *copy = vfs->pAppData;
    int number = number_of(name);
    file->pMethods = 0;
    // Temporary files and super-journals have other names, or none, and are rejected.
    if (number < 0) return SQLITE_CANTOPEN;
    if (!copy->exists[number] && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    copy->exists[number] = 1;
    struct part *part = (struct part *)file;
    part->file.pMethods = &methods;
    part->copy = copy;
    part->number = number;
    if (actual) *actual = flags;
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    struct csqlite_copy *copy = vfs->pAppData;
    int number = number_of(name);
    if (number < 0 || !copy->exists[number]) return SQLITE_IOERR_DELETE_NOENT;
    copy->exists[number] = 0;
    return ftruncate(copy->descriptors[number], 0) == 0 ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    struct csqlite_copy *copy = vfs->pAppData;
    int number = number_of(name);
    struct stat status;
    // As in the default file system, an empty file counts as missing.
    *result = number >= 0 && copy->exists[number] && fstat(copy->descriptors[number], &status) == 0 && status.st_size > 0;
    return SQLITE_OK;
}

static int on_full_name(sqlite3_vfs *vfs, const char *name, int size, char *full) {
    if (number_of(name) < 0) return SQLITE_CANTOPEN;
    snprintf(full, (size_t)size, "%s", name);
    return SQLITE_OK;
}

// Random numbers and the time are not needed for reading.
static int on_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    memset(bytes, 0, (size_t)count);
    return count;
}
static int on_sleep(sqlite3_vfs *vfs, int microseconds) { return microseconds; }
static int on_time(sqlite3_vfs *vfs, double *time) {
    *time = 0;
    return SQLITE_OK;
}
static int on_last_error(sqlite3_vfs *vfs, int size, char *text) { return 0; }

static int is_named(const char *name, const char *expected) { return name && strcmp(name, expected) == 0; }

// Allows only reading the columns of one table and of the schema, and the pragmas that check the schema.
static int on_authorize(void *context, int action, const char *first, const char *second, const char *database,
                        const char *source) {
    const char *table = ((struct csqlite_copy *)context)->table;
    switch (action) {
    case SQLITE_SELECT: return SQLITE_OK;
    case SQLITE_READ:
        return is_named(first, table) || is_named(first, "sqlite_master") || is_named(first, "pragma_table_xinfo")
                   ? SQLITE_OK
                   : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return is_named(second, table) && (is_named(first, "table_xinfo") || is_named(first, "table_list"))
                   ? SQLITE_OK
                   : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static int on_progress(void *context) {
    struct csqlite_copy *copy = context;
    return --copy->budget < 0;
}

static void set_limits(sqlite3 *connection) {
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, 16 << 20},      {SQLITE_LIMIT_SQL_LENGTH, 100000}, {SQLITE_LIMIT_COLUMN, 100},
        {SQLITE_LIMIT_EXPR_DEPTH, 10},        {SQLITE_LIMIT_VDBE_OP, 25000},     {SQLITE_LIMIT_COMPOUND_SELECT, 3},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},       {SQLITE_LIMIT_ATTACHED, 0},        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100}, {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(connection, limits[i][0], limits[i][1]);
}

static int configure(sqlite3 *connection) {
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}, {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        int code = sqlite3_db_config(connection, switches[i][0], switches[i][1], (int *)0);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

int csqlite_open(struct csqlite_copy *copy, sqlite3 **connection) {
    static atomic_ullong count;
    snprintf(copy->name, sizeof copy->name, "pingferry-%llu", atomic_fetch_add(&count, 1));
    copy->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct part),
        .mxPathname = 64,
        .zName = copy->name,
        .pAppData = copy,
        .xOpen = on_open,
        .xDelete = on_delete,
        .xAccess = on_access,
        .xFullPathname = on_full_name,
        .xRandomness = on_randomness,
        .xSleep = on_sleep,
        .xCurrentTime = on_time,
        .xGetLastError = on_last_error,
    };
    *connection = 0;
    int code = sqlite3_vfs_register(&copy->vfs, 0);
    if (code != SQLITE_OK) return code;
    code = sqlite3_open_v2(names[csqlite_main], connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, copy->name);
    if (code != SQLITE_OK) return code;
    sqlite3_extended_result_codes(*connection, 1);
    set_limits(*connection);
    sqlite3_progress_handler(*connection, 1000, on_progress, copy);
    code = configure(*connection);
    if (code != SQLITE_OK) return code;
    // In exclusive mode, SQLite keeps the index of a write-ahead log in the memory of the process instead of in shared
    // memory.
    code = sqlite3_exec(*connection,
                        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                        "PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=0;"
                        "PRAGMA cache_size=-2048; PRAGMA query_only=ON",
                        0, 0, 0);
    if (code != SQLITE_OK) return code;
    return sqlite3_set_authorizer(*connection, on_authorize, copy);
}

void csqlite_close(struct csqlite_copy *copy, sqlite3 *connection) {
    sqlite3_close(connection);
    sqlite3_vfs_unregister(&copy->vfs);
}
