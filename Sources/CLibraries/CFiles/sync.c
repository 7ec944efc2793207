#define _GNU_SOURCE
#include "cfiles.h"

#include <fcntl.h>

void cfiles_begin_sync(int file, long long offset, long long count) {
#ifdef SYNC_FILE_RANGE_WRITE
    sync_file_range(file, offset, count, SYNC_FILE_RANGE_WRITE);
#endif
}
