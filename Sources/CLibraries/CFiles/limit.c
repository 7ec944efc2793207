#define _GNU_SOURCE
#include "cfiles.h"

#include <sys/resource.h>

// Enough for many sets of volumes.
static const rlim_t many = 1 << 16;

void cfiles_allow_many_open_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= many) return;
    limit.rlim_cur = limit.rlim_max < many ? limit.rlim_max : many;
    setrlimit(RLIMIT_NOFILE, &limit);
}
