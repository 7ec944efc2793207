import Glibc

/// Unbuffered access to the standard input.
public enum StandardInput {
    private static let name = "standard input"
    private static let minimumChunkSize = 64 << 10

    /// Appends the next bytes to `output` until it is full or the input ends, and returns the number of appended bytes.
    @discardableResult
    public static func read(into output: inout OutputSpan<UInt8>) throws(FileError) -> Int {
        try output.fill(.read, name) { free, _ in Glibc.read(STDIN_FILENO, free.baseAddress, free.count) }
    }

    /// Returns all bytes up to the end of the input, or throws `EFBIG` if there are more than `limit` bytes.
    public static func contents(limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            // One byte more than the limit is enough to detect that the input is too large.
            let chunkSize = min(max(bytes.count, minimumChunkSize), limit - bytes.count + 1)
            var count = 0
            try bytes.append(addingCapacity: chunkSize) { output throws(FileError) in
                count = try read(into: &output)
            }
            guard bytes.count <= limit else { throw FileError(.read, name, code: EFBIG) }
            if count < chunkSize { return bytes }
        }
    }
}
