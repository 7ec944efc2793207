import CZstd

/// An error that zstd reports.
public struct ZstdError: Error, Sendable, CustomStringConvertible {
    /// The error message from zstd.
    public let description: String
}

// Sendable, because the pointer is not shared with other values.
/// A compressor that creates a separate zstd frame with a checksum for each piece of an output.
///
/// Use a compressor on only one thread at a time.
final class ZstdCompressor: @unchecked Sendable {
    private let context: OpaquePointer

    init() throws(ZstdError) {
        guard let context = ZSTD_createCCtx() else { throw ZstdError(description: "not enough memory") }
        self.context = context
        // These calls cannot fail, because the values are valid and no frame has been started. Level 1 produces the
        // smallest frames of all fast levels for records; see `FrameEncoder`.
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    func compressedFrame(of bytes: [UInt8]) throws(ZstdError) -> [UInt8] {
        var failure: ZstdError?
        let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { room, count in
            let result = ZSTD_compress2(context, room.baseAddress, room.count, bytes, bytes.count)
            if ZSTD_isError(result) == 0 {
                count = result
            } else {
                failure = ZstdError(description: String(cString: ZSTD_getErrorName(result)))
            }
        }
        if let failure { throw failure }
        return frame
    }
}
