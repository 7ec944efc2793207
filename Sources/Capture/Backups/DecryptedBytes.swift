import DeviceBackup
import Files
import Glibc
import Hashing

/// The contents of an encrypted file, decrypted on demand.
///
/// Decryption can start at any block, because the decryption of a block depends only on the preceding block.
///
/// Source: "iOS backups", section 5.4.
struct DecryptedBytes: ByteProvider {
    private(set) var count: Int
    private let source: ByteSource
    private let key: CipherKey
    private let path: String

    private static let blockSize = CipherKey.blockSize
    private static let pieceSize = 1 << 20
    private static let zeros = [UInt8](repeating: 0, count: blockSize)

    /// Creates the decrypted bytes, including their padding.
    ///
    /// - Throws: `FileError` if `source` is empty or does not consist of whole blocks.
    init(_ source: ByteSource, key: CipherKey, path: String) throws(FileError) {
        guard source.count > 0, source.count.isMultiple(of: Self.blockSize) else {
            throw .inBackup(
                "B29", "the encrypted file has \(source.count) bytes, which is not a multiple of the block size", path)
        }
        self.source = source
        self.key = key
        self.path = path
        count = source.count
    }

    /// Returns the decrypted bytes without their padding, or throws an error if the padding is invalid.
    static func unpadded(_ source: ByteSource, key: CipherKey, path: String) throws(FileError) -> DecryptedBytes {
        var bytes = try DecryptedBytes(source, key: key, path: path)
        let last = try [UInt8](capacity: blockSize) { output throws(FileError) in
            try bytes.read(at: bytes.count - blockSize, into: &output)
        }
        guard let padding = Padding.count(inLastBlock: last) else {
            throw .inBackup("B29", "the padding of the encrypted file is invalid", path)
        }
        bytes.count -= padding
        return bytes
    }

    func isUnchanged(checkingPath checksPath: Bool) throws(FileError) -> Bool {
        try source.isUnchanged(checkingPath: checksPath)
    }

    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        var position = offset
        let end = offset + min(output.freeCapacity, count - offset)
        while position < end {
            let first = position / Self.blockSize * Self.blockSize
            let size = min(Self.pieceSize, (end - first + Self.blockSize - 1) / Self.blockSize * Self.blockSize)
            // Includes the preceding block, because the decryption of the first block depends on it.
            let start = max(first - Self.blockSize, 0)
            let cipher = try source.bytes(at: start, count: first + size - start)
            let previous = first == 0 ? Self.zeros : Array(cipher.prefix(Self.blockSize))
            guard let plain = key.decrypt(Array(cipher.dropFirst(first - start)), after: previous), plain.count == size
            else { throw .inBackup("B29", "the encrypted file became shorter while it was read", path) }
            output.append(fittingPrefixOf: plain.span.extracting((position - first)..<min(size, end - first)))
            position = first + size
        }
    }
}

extension FileError {
    /// Creates the error for a file that cannot be read from a backup.
    ///
    /// `caseID` is a case ID from "iOS backups", section 10.
    static func inBackup(_ caseID: String, _ text: String, _ path: String) -> FileError {
        FileError(.read, path, code: ENODATA, caseID: caseID, message: text)
    }
}
