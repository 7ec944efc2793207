import DeviceBackup
import Files
import Glibc
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

    private let entries: BackupEntries
    private let folder: SharedFolder
    private let protection: Protection

    init(_ entries: BackupEntries, in folder: SharedFolder, protection: Protection) {
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
        (0..<entries.count).contains { number in
            let entry = entries[number]
            // A file that cannot be read is reported when the tree is built.
            guard let stored = try? storedBytes(of: entry) else { return false }
            return Self.isEncrypted(stored, entry)
        }
    }

    /// Returns whether a file is still encrypted.
    ///
    /// Padding extends an encrypted file to the next multiple of 16 bytes above the size that the manifest states.
    private static func isEncrypted(_ stored: ByteSource, _ entry: BackupEntries.Entry) -> Bool {
        guard stored.count > 0, stored.count.isMultiple(of: 16), entry.key != nil, let size = entry.size else {
            return false
        }
        return stored.count != size && stored.count / 16 == size / 16 + 1
    }

    /// Returns the stored bytes of a file, or `nil` if the file is missing and is empty according to the manifest.
    private func storedBytes(of entry: BackupEntries.Entry) throws(FileError) -> ByteSource? {
        let id = entry.fileID
        do throws(FileError) {
            do throws(FileError) {
                return try folder.folder.folder(at: id.folder).source(Array(id.name.utf8))
            } catch {
                // Before iOS 10, all files are in one folder.
                guard error.isNotFound else { throw error }
                return try folder.folder.source(Array(id.name.utf8))
            }
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

    private func decrypted(
        _ stored: ByteSource, _ entry: BackupEntries.Entry, _ keys: ClassKeys
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

extension WrappedKeyError {
    /// A description of the error that follows "the key" in a sentence.
    var words: String {
        switch self {
        case .missingClassKey(let number): "is of class \(number), whose key is not in the keybag"
        case .unwrappingFailed: "cannot be unwrapped"
        }
    }
}
