import DeviceBackup

/// What has to be known of the files of a backup to open them, side by side in a few buffers: there may be millions.
struct BackupEntries {
    struct Entry {
        /// What it is called in the backup.
        let fileID: FileID
        /// Its wrapped key as it is stored; nil if there is none.
        let key: [UInt8]?
        /// The size that the manifest tells; nil if it tells none.
        let size: Int?
        /// Whether what the manifest says of it could be understood.
        let isUnderstood: Bool
    }

    /// The size of a file and the end of its key in `keys`. The size comes first, so that both fit in 16 bytes.
    private struct Details {
        let size: Size
        let keyEnd: UInt32
    }

    private enum Size {
        case known(Int)
        case missing
        /// Nothing that the manifest says of the file could be understood.
        case notUnderstood
    }

    private var fileIDs: [UInt8] = []
    private var keys: [UInt8] = []
    private var details: [Details] = []

    /// A key that is longer is none; that it is too long still shows.
    private static let keyLimit = WrappedKey.size + 1

    var count: Int { details.count }

    mutating func append(_ fileID: FileID, _ file: MBFile?) {
        fileIDs += fileID.bytes
        if let key = file?.key { keys += key.prefix(Self.keyLimit) }
        let size: Size = file.map { $0.size.map(Size.known) ?? .missing } ?? .notUnderstood
        details.append(Details(size: size, keyEnd: UInt32(keys.count)))
    }

    subscript(number: Int) -> Entry {
        let start = number == 0 ? 0 : Int(details[number - 1].keyEnd)
        let key = keys[start..<Int(details[number].keyEnd)]
        let (size, isUnderstood): (Int?, Bool) =
            switch details[number].size {
            case .known(let size): (size, true)
            case .missing: (nil, true)
            case .notUnderstood: (nil, false)
            }
        return Entry(
            fileID: FileID(bytes: fileIDs[number * FileID.size..<(number + 1) * FileID.size]),
            key: key.isEmpty ? nil : Array(key), size: size, isUnderstood: isUnderstood)
    }

    /// The name of the file of a number.
    func fileID(_ number: Int) -> FileID { self[number].fileID }
}
