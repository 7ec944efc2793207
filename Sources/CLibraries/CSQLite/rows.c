// Rows in memory as a table that SQLite reads from. One statement that takes them in adds many rows with one cursor, which stays
// where the last row went; a statement for each row would open a cursor and search the place each time.
#include "csqlite.h"

#include <stdlib.h>
#include <string.h>

struct cursor {
    sqlite3_vtab_cursor base;
    const struct csqlite_rows *rows;
    sqlite3_int64 row;
};

struct table {
    sqlite3_vtab base;
    const struct csqlite_rows *rows;
};

static int on_connect(sqlite3 *connection, void *rows, int count, const char *const *words, sqlite3_vtab **made, char **error) {
    sqlite3_str *schema = sqlite3_str_new(connection);
    for (int column = 0; column < ((struct csqlite_rows *)rows)->columns; column++)
        sqlite3_str_appendf(schema, "%sc%d", column ? "," : "CREATE TABLE rows(", column);
    sqlite3_str_appendall(schema, ")");
    char *text = sqlite3_str_finish(schema);
    if (!text) return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(connection, text);
    sqlite3_free(text);
    if (code != SQLITE_OK) return code;
    struct table *table = calloc(1, sizeof *table);
    if (!table) return SQLITE_NOMEM;
    table->rows = rows;
    *made = &table->base;
    return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *table) {
    free(table);
    return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *table, sqlite3_index_info *info) { return SQLITE_OK; }

static int on_open(sqlite3_vtab *table, sqlite3_vtab_cursor **made) {
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->rows = ((struct table *)table)->rows;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *cursor) {
    free(cursor);
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values) {
    ((struct cursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *cursor) {
    ((struct cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;
    return cursor->row >= cursor->rows->count;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    struct cursor *cursor = (struct cursor *)base;
    const struct csqlite_rows *rows = cursor->rows;
    const struct csqlite_cell *cell = &rows->cells[cursor->row * rows->columns + column];
    switch (cell->kind) {
    case csqlite_null: break;
    case csqlite_integer: sqlite3_result_int64(context, cell->number); break;
    case csqlite_real: {
        double real;
        memcpy(&real, &cell->number, sizeof real);
        sqlite3_result_double(context, real);
        break;
    }
    case csqlite_text:
        // The bytes stay where they are until the row is added.
        sqlite3_result_text64(context, rows->text + cell->number, cell->length, SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row) {
    *row = ((struct cursor *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = on_connect,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_eof,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

int csqlite_lend_rows(sqlite3 *connection, const char *name, const struct csqlite_rows *rows) {
    return sqlite3_create_module_v2(connection, name, &module, (void *)rows, NULL);
}
