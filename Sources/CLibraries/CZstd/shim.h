#ifndef PINGFERRY_CZSTD_SHIM_H
#define PINGFERRY_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

// zstd's sentinels are macros with casts, which Swift does not import.

/// What ZSTD_getFrameContentSize answers for a frame that does not state its content size.
static inline unsigned long long czstd_content_size_unknown(void) { return ZSTD_CONTENTSIZE_UNKNOWN; }

/// What ZSTD_getFrameContentSize answers for bytes that are not a frame header.
static inline unsigned long long czstd_content_size_error(void) { return ZSTD_CONTENTSIZE_ERROR; }

#endif
