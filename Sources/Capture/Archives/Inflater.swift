import CZlib

/// A decompressor for gzip members (RFC 1952), zlib streams (RFC 1950), or deflated data without a header (RFC 1951).
///
/// The data is decompressed piece by piece.
struct Inflater: ~Copyable {
    // Allocated separately, because zlib stores the address of the stream.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the current member is complete and matches its checksum, if it has a checksum.
    private(set) var isAtEnd = false

    /// The data that an inflater reads.
    enum Format {
        /// A gzip member or a zlib stream.
        case gzipOrZlib
        /// Deflated data without a header.
        case raw
    }

    /// Creates an inflater.
    ///
    /// - Throws: ``InflateError`` if there is not enough memory.
    init(_ format: Format = .gzipOrZlib) throws(InflateError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status =
            switch format {
            case .gzipOrZlib: pingferry_inflate_init(stream)
            case .raw: pingferry_raw_inflate_init(stream)
            }
        guard status == Z_OK else {
            stream.deallocate()
            throw InflateError(reason: "not enough memory")
        }
        self.stream = stream
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    mutating func restart() {
        inflateReset(stream)
        isAtEnd = false
    }

    /// Inflates `input` from `position` until the input or the current member ends, or the output is full.
    ///
    /// Advances `position` to the first unused byte.
    ///
    /// - Throws: ``InflateError`` if the bytes are damaged.
    mutating func inflate(
        _ input: Span<UInt8>, from position: inout Int, into output: inout OutputSpan<UInt8>
    ) throws(InflateError) {
        let rest = input.extracting(droppingFirst: position)
        let status = rest.withUnsafeBytes { bytes in
            output.withUnsafeMutableBufferPointer { room, count in
                // zlib uses 32-bit sizes, and does not write to its input.
                let available = min(bytes.count, 1 << 30)
                let free = min(room.count - count, 1 << 30)
                stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(available)
                stream.pointee.next_out = room.baseAddress.map { $0 + count }
                stream.pointee.avail_out = UInt32(free)
                let status = CZlib.inflate(stream, Z_NO_FLUSH)
                position += available - Int(stream.pointee.avail_in)
                count += free - Int(stream.pointee.avail_out)
                return status
            }
        }
        switch status {
        case Z_OK, Z_BUF_ERROR: return
        case Z_STREAM_END: isAtEnd = true
        default: throw InflateError(reason: stream.pointee.msg.map { String(cString: $0) } ?? "damaged")
        }
    }
}

struct InflateError: Error {
    let reason: String

    /// Whether all bytes were inflated, but do not match the checksum or the length that follows them.
    var isMismatch: Bool { ["incorrect data check", "incorrect length check"].contains(reason) }
}

extension Inflater {
    /// Inflates the members in `body`, or returns `nil` if they are damaged or the result exceeds `limit` bytes.
    static func inflate(body: [UInt8], limit: Int) -> [UInt8]? {
        // A lack of memory is reported as a damaged body.
        guard var inflater = try? Inflater() else { return nil }
        var output: [UInt8] = []
        var position = 0
        repeat {
            let (used, made) = (position, output.count)
            // One extra byte shows that the limit is exceeded.
            let room = min(max(4 * body.count, 64 << 10), limit - output.count + 1)
            do throws(InflateError) {
                try output.append(addingCapacity: room) { output throws(InflateError) in
                    try inflater.inflate(body.span, from: &position, into: &output)
                }
            } catch {
                return nil
            }
            guard output.count <= limit else { return nil }
            if inflater.isAtEnd {
                if position == body.count { return output }
                inflater.restart()
            } else if used == position, made == output.count {
                return nil
            }
        } while true
    }
}
