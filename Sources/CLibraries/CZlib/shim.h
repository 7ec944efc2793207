#ifndef PINGFERRY_CZLIB_H
#define PINGFERRY_CZLIB_H

#include <zlib.h>

/// Prepares to read a gzip member (RFC 1952) or a zlib stream (RFC 1950), whichever comes. A function, because zlib has a
/// macro here that Swift cannot see.
static inline int pingferry_inflate_init(z_stream *stream) {
    return inflateInit2(stream, MAX_WBITS + 32);
}

/// Prepares to read deflated bytes with nothing around them (RFC 1951).
static inline int pingferry_raw_inflate_init(z_stream *stream) {
    return inflateInit2(stream, -MAX_WBITS);
}

/// Prepares to write one gzip member (RFC 1952); a function for the same reason.
static inline int pingferry_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}

#endif
