#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>

// The offset of the locked byte. The lock does not conflict with SQLite, which locks bytes close to the offset 2^30.
static const off_t beyond_end = (off_t)1 << 62;

static int set(int file, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = beyond_end, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

int cfiles_lock_beyond_end(int file) { return set(file, F_WRLCK); }

int cfiles_unlock_beyond_end(int file) { return set(file, F_UNLCK); }
