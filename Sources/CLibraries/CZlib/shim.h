#ifndef PINGFERRY_CZLIB_H
#define PINGFERRY_CZLIB_H

#include <zlib.h>

/// Initializes the decompression of a gzip member (RFC 1952) or a zlib stream (RFC 1950). The format is detected
/// automatically. `inflateInit2` is a macro, which Swift does not import.
static inline int pingferry_inflate_init(z_stream *stream) {
    return inflateInit2(stream, MAX_WBITS + 32);
}

/// Initializes the decompression of deflated data without a header (RFC 1951).
static inline int pingferry_raw_inflate_init(z_stream *stream) {
    return inflateInit2(stream, -MAX_WBITS);
}

/// Initializes the compression of one gzip member (RFC 1952).
static inline int pingferry_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}

#endif
