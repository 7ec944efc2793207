import Glibc

/// An open file descriptor, closed with the value.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Takes over a descriptor that `open` or `openat` returned, or reports why there is none.
    init(_ number: Int32, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        guard number >= 0 else { throw FileError(operation, path) }
        self.number = number
    }

    deinit { close(number) }

    /// `fstat`, for the path of the message.
    func status(_ path: String) throws(FileError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw FileError(.stat, path) }
        return status
    }

    /// Brings the entries of a folder to the disk. Some file systems do not support that and report `EINVAL`.
    func syncFolder(_ path: String) throws(FileError) {
        guard fsync(number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
    }

    /// Appends what stands from `offset` on, at most `limit` bytes, until the output is full or the file ends.
    /// - Returns: the number of bytes that were appended.
    /// - Throws: `FileError` of that operation and path; `EINVAL` for a negative offset.
    func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>, _ operation: FileError.Operation,
        _ path: @autoclosure () -> String
    ) throws(FileError) -> Int {
        let wanted = min(output.freeCapacity, limit)
        var total = 0
        while total < wanted {
            let result = output.withUnsafeMutableBufferPointer { buffer, count in
                let room = UnsafeMutableBufferPointer(rebasing: buffer[count..<count + wanted - total])
                let result = pread(number, room.baseAddress, room.count, offset + total)
                count += max(result, 0)
                return result
            }
            guard result != 0 else { break }
            guard result > 0 || errno == EINTR else { throw FileError(operation, path()) }
            total += max(result, 0)
        }
        return total
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
