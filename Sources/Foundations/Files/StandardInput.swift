import Glibc

/// The standard input, without a buffer of its own.
public enum StandardInput {
    private static let name = "standard input"
    private static let smallestStep = 64 << 10

    /// Appends what comes next, until the output is full or the input ends.
    /// - Returns: the number of bytes that were appended.
    @discardableResult
    public static func read(into output: inout OutputSpan<UInt8>) throws(FileError) -> Int {
        var total = 0
        while !output.isFull {
            let result = output.withUnsafeMutableBufferPointer { buffer, count in
                let room = UnsafeMutableBufferPointer(rebasing: buffer[count...])
                let result = Glibc.read(STDIN_FILENO, room.baseAddress, room.count)
                count += max(result, 0)
                return result
            }
            guard result != 0 else { break }
            guard result > 0 || errno == EINTR else { throw FileError(.read, name) }
            total += max(result, 0)
        }
        return total
    }

    /// Everything up to its end.
    ///
    /// - Parameter limit: the most bytes to accept.
    /// - Throws: `FileError`; `EFBIG` when there are more bytes than `limit`.
    public static func contents(limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            // One byte more than allowed is enough to see that there are too many.
            let step = min(max(bytes.count, smallestStep), limit - bytes.count + 1)
            var count = 0
            try bytes.append(addingCapacity: step) { output throws(FileError) in
                count = try read(into: &output)
            }
            guard bytes.count <= limit else { throw FileError(.read, name, code: EFBIG) }
            if count < step { return bytes }
        }
    }
}
