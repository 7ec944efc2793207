// This is a C file, because a build can define a string for C but not for Swift, and a new commit recompiles only this
// file.
#include "cversion.h"

#include <stddef.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

const char *cversion_number(void) { return PINGFERRY_VERSION; }

const char *cversion_commit(void) {
#ifdef PINGFERRY_COMMIT
    return PINGFERRY_COMMIT;
#else
    return NULL;
#endif
}

const char *cversion_swift(void) {
#ifdef PINGFERRY_SWIFT
    return PINGFERRY_SWIFT;
#else
    return NULL;
#endif
}

const char *cversion_libc(void) {
#ifdef __GLIBC__
    return gnu_get_libc_version();
#else
    return "";
#endif
}
