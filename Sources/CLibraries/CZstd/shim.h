#ifndef PINGFERRY_CZSTD_SHIM_H
#define PINGFERRY_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

// The special values of zstd are macros with casts, which Swift does not import.

/// The result of ZSTD_getFrameContentSize for a frame that does not specify its content size.
static inline unsigned long long czstd_content_size_unknown(void) { return ZSTD_CONTENTSIZE_UNKNOWN; }

/// The result of ZSTD_getFrameContentSize for bytes that are not a frame header.
static inline unsigned long long czstd_content_size_error(void) { return ZSTD_CONTENTSIZE_ERROR; }

#endif
