#pragma once

// Returns the version that the build defined as PINGFERRY_VERSION.
const char *_Nonnull cversion_number(void);

// Returns the commit that the build defined as PINGFERRY_COMMIT, or NULL.
const char *_Nullable cversion_commit(void);

// Returns the version of Swift that the build defined as PINGFERRY_SWIFT, or NULL.
const char *_Nullable cversion_swift(void);

// Returns the version of the GNU C library that is loaded, or an empty string if the system has another one.
const char *_Nonnull cversion_libc(void);
