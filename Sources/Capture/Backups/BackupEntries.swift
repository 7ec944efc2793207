import DeviceBackup

/// What has to be known of the files of a backup to open them, side by side in a few buffers: there may be millions.
struct BackupEntries {
    /// A file.
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

    private var fileIDs: [UInt8] = []
    private var keys: [UInt8] = []
    /// Where the keys end, one after another.
    private var keyEnds: [Int] = []
    private var sizes: [Int] = []

    /// In the place of a size: there is none, or nothing was understood at all.
    private static let noSize = -1
    private static let notUnderstood = -2
    /// A key that is longer is none; that it is too long still shows.
    private static let keyLimit = WrappedKey.size + 1

    /// How many files there are.
    var count: Int { sizes.count }

    /// Adds a file.
    mutating func append(_ fileID: FileID, _ details: MBFile?) {
        fileIDs += fileID.bytes
        set(details)
    }

    private mutating func set(_ details: MBFile?) {
        if let key = details?.key { keys += key.prefix(Self.keyLimit) }
        keyEnds.append(keys.count)
        sizes.append(details.map { $0.size ?? Self.noSize } ?? Self.notUnderstood)
    }

    /// The file of a number.
    subscript(number: Int) -> Entry {
        let start = number == 0 ? 0 : keyEnds[number - 1]
        let key = keys[start..<keyEnds[number]]
        return Entry(
            fileID: FileID(bytes: fileIDs[number * FileID.size..<(number + 1) * FileID.size]),
            key: key.isEmpty ? nil : Array(key), size: sizes[number] >= 0 ? sizes[number] : nil,
            isUnderstood: sizes[number] != Self.notUnderstood)
    }

    /// The name of the file of a number.
    func fileID(_ number: Int) -> FileID { self[number].fileID }
}
