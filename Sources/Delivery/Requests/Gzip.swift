import CZlib
import Telemetry

/// Compression in the gzip format of RFC 1952.
enum Gzip {
    /// Returns the compressed bytes, with no name or time in the header so that equal input gives equal output.
    static func compressed(_ bytes: [UInt8]) throws(RequestError) -> [UInt8] {
        var stream = z_stream()
        var code = pingferry_gzip_init(&stream, Z_DEFAULT_COMPRESSION)
        guard code == Z_OK else { throw failure(code) }
        defer { deflateEnd(&stream) }
        // zlib counts the input in 32 bits. Request bodies are far smaller.
        guard let length = UInt32(exactly: bytes.count) else { throw failure(Z_BUF_ERROR) }
        let limit = Int(deflateBound(&stream, uLong(bytes.count)))
        var input = bytes
        let output = [UInt8](unsafeUninitializedCapacity: limit) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = length
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(clamping: limit)
                code = deflate(&stream, Z_FINISH)
            }
            count = limit - Int(stream.avail_out)
        }
        guard code == Z_STREAM_END else { throw failure(code) }
        return output
    }

    private static func failure(_ code: Int32) -> RequestError {
        .notCompressed("zlib cannot compress the body (code \(code))")
    }
}
