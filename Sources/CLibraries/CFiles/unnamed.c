#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { path_size = 4096 };

int cfiles_open_unnamed(const char *folder) {
    int number;
#ifdef O_TMPFILE
    // Because of O_EXCL, the file cannot be linked to a name later.
    number = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (number >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return number;
#endif
    // The system or the file system does not support unnamed files. Therefore the file is created with a name that is
    // then removed.
    char path[path_size];
    int length = snprintf(path, sizeof path, "%s/pingferry-spool-XXXXXX", folder);
    if (length < 0 || length >= path_size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    number = mkostemp(path, O_CLOEXEC);
    if (number >= 0 && unlink(path) != 0) {
        int error = errno;
        close(number);
        errno = error;
        return -1;
    }
    return number;
}
