import Bytes
import CLibrary
import DeviceBackup
import Files
import Hashing

/// The files in a backup that may belong to stores.
///
/// Encrypted files are decrypted when they are read.
///
/// Source: "iOS backups", sections 5.4 and 6.
final class BackupFiles: Sendable {
    /// The encryption of the files in a backup.
    enum Protection: Sendable {
        case plain
        case encrypted(ClassKeys)
        /// Another tool has decrypted the manifest and perhaps some files.
        ///
        /// The keys are `nil` unless a file is still encrypted.
        case mixed(ClassKeys?)

        var keys: ClassKeys? {
            switch self {
            case .plain: nil
            case .encrypted(let keys): keys
            case .mixed(let keys): keys
            }
        }
    }

    private let entries: [BackupEntry]
    private let folder: SharedFolder
    private let protection: Protection

    init(_ entries: [BackupEntry], in folder: SharedFolder, protection: Protection) {
        self.entries = entries
        self.folder = folder
        self.protection = protection
    }

    var isEncrypted: Bool { protection.keys != nil }

    var damagedClassNumbers: [Int] { protection.keys?.damagedClassNumbers ?? [] }

    func source(ofFile number: Int) throws(FileError) -> ByteSource {
        let entry = entries[number]
        guard let stored = try storedBytes(of: entry) else { return ByteSource([UInt8]()) }
        switch protection {
        case .plain: return stored
        case .encrypted(let keys): return try decrypted(stored, entry, keys)
        case .mixed(let keys):
            guard Self.isEncrypted(stored, entry) else { return stored }
            guard let keys else {
                throw .inBackup("B30", "the file is encrypted, but the backup has no key for it", entry.fileID.name)
            }
            return try decrypted(stored, entry, keys)
        }
    }

    /// Returns whether any file is still encrypted, although another tool has decrypted the manifest.
    func needsKeys() -> Bool {
        entries.contains { entry in
            // A file that cannot be read is reported when the tree is built.
            guard let stored = try? storedBytes(of: entry) else { return false }
            return Self.isEncrypted(stored, entry)
        }
    }

    /// Returns whether a file is still encrypted.
    ///
    /// Padding extends an encrypted file to the next multiple of 16 bytes above the size that the manifest states.
    private static func isEncrypted(_ stored: ByteSource, _ entry: BackupEntry) -> Bool {
        guard stored.count > 0, stored.count.isMultiple(of: 16), entry.key != nil, let size = entry.size else {
            return false
        }
        return stored.count != size && stored.count / 16 == size / 16 + 1
    }

    /// Returns the stored bytes of a file, or `nil` if the file is missing and is empty according to the manifest.
    private func storedBytes(of entry: BackupEntry) throws(FileError) -> ByteSource? {
        let id = entry.fileID
        do throws(FileError) {
            do throws(FileError) {
                return try folder.folder.folder(at: id.folder).source(Array(id.name.utf8))
            } catch {
                guard error.isNotFound else { throw error }
            }
            do throws(FileError) {
                // Before iOS 10, all files are in one folder.
                return try folder.folder.source(Array(id.name.utf8))
            } catch {
                guard error.isNotFound else { throw error }
            }
            // Some tools that decrypt a backup store the files by their domain and path.
            return try source(at: entry.path)
        } catch {
            switch error.code {
            case ENOENT where entry.size == 0: return nil
            case ENOENT: throw .inBackup("B28", "the backup does not contain the file \(id.folder)/\(id.name)", id.name)
            case ELOOP, ENOTDIR, ENOTSUP, EISDIR:
                throw .inBackup("B31", "not read: \(id.folder)/\(id.name) is not a regular file", id.name)
            default: throw error
            }
        }
    }

    /// Opens the file at a path relative to the folder of the backup, without following links.
    private func source(at path: [UInt8]) throws(FileError) -> ByteSource {
        let parts = path.split(separator: UInt8(ascii: "/"))
        var parent = try folder.folder.folder(at: "")
        for part in parts.dropLast() { parent = try parent.folder(at: String(decoding: part, as: UTF8.self)) }
        return try parent.source(Array(parts.last ?? []))
    }

    private func decrypted(
        _ stored: ByteSource, _ entry: BackupEntry, _ keys: ClassKeys
    ) throws(FileError) -> ByteSource {
        let name = entry.fileID.name
        guard entry.hasValidDetails else {
            throw .inBackup("B42", "the properties of the file in the manifest are not a valid MBFile", name)
        }
        if stored.count == 0, entry.size == 0 { return ByteSource([UInt8]()) }
        guard let bytes = entry.key, let wrapped = WrappedKey(bytes) else {
            let fault = entry.key == nil ? "is missing" : "does not have \(WrappedKey.size) bytes"
            throw .inBackup("B30", "the key of the file \(fault)", name)
        }
        let key: CipherKey
        do throws(WrappedKeyError) {
            key = try keys.unwrap(wrapped)
        } catch {
            throw .inBackup("B30", "the key of the file \(error.words)", name)
        }
        return ByteSource(try DecryptedBytes.unpadded(stored, key: key, path: name))
    }
}

// MARK: - Entries

/// The information that is needed to open a file of a backup.
struct BackupEntry {
    let fileID: FileID
    /// The path of the file in a backup that was unpacked by domains: `<domain>/<path>`.
    let path: [UInt8]
    /// The encrypted key of the file as stored, or `nil` if the file has none.
    let key: [UInt8]?
    /// The size in bytes that the manifest states, or `nil` if the manifest states no valid size.
    let size: Int?
    let hasValidDetails: Bool

    /// The maximum number of bytes to keep of a key, one more than a valid key has, so that longer keys are detected.
    private static let keySizeLimit = WrappedKey.size + 1

    /// Creates an entry from the properties of the file, which are `nil` if they are malformed.
    init(_ fileID: FileID, path: [UInt8], _ file: MBFile?) {
        self.fileID = fileID
        self.path = path
        let key = file?.key.map { Array($0.prefix(Self.keySizeLimit)) } ?? []
        self.key = key.isEmpty ? nil : key
        size = file?.size
        hasValidDetails = file != nil
    }
}

// MARK: - Decryption

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
                "B29",
                "the encrypted file has \(source.count.counted("byte")), which is not a multiple of the block size",
                path)
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
    fileprivate static func inBackup(_ caseID: String, _ text: String, _ path: String) -> FileError {
        FileError(.read, path, code: ENODATA, caseID: caseID, message: text)
    }
}
