#define _GNU_SOURCE
#include "cfiles.h"

#include <sys/resource.h>

// This limit is sufficient for several bundles with the maximum number of volumes.
static const rlim_t wanted = 1 << 16;

void cfiles_raise_open_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}
