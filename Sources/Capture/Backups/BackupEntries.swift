import DeviceBackup

/// The information that is needed to open the files of a backup.
///
/// The information is stored compactly, because there may be millions of files.
struct BackupEntries {
    struct Entry {
        let fileID: FileID
        /// The encrypted key of the file as stored, or `nil` if the file has none.
        let key: [UInt8]?
        /// The size in bytes that the manifest states, or `nil` if the manifest states no valid size.
        let size: Int?
        let hasValidDetails: Bool
    }

    /// The size of a file and the end offset of its key in `keyBytes`.
    ///
    /// The order of the properties makes the value fit in 16 bytes.
    private struct Details {
        let size: Size
        let keyEnd: UInt32
    }

    private enum Size {
        case known(Int)
        case missing
        case invalid
    }

    private var fileIDBytes: [UInt8] = []
    private var keyBytes: [UInt8] = []
    private var details: [Details] = []

    /// The maximum number of bytes to store of a key, one more than a valid key has, so that longer keys are detected.
    private static let keySizeLimit = WrappedKey.size + 1

    var count: Int { details.count }

    mutating func append(_ fileID: FileID, _ file: MBFile?) {
        fileIDBytes += fileID.bytes
        if let key = file?.key { keyBytes += key.prefix(Self.keySizeLimit) }
        let size: Size = file.map { $0.size.map(Size.known) ?? .missing } ?? .invalid
        details.append(Details(size: size, keyEnd: UInt32(keyBytes.count)))
    }

    subscript(number: Int) -> Entry {
        let start = number == 0 ? 0 : Int(details[number - 1].keyEnd)
        let key = keyBytes[start..<Int(details[number].keyEnd)]
        let (size, hasValidDetails): (Int?, Bool) =
            switch details[number].size {
            case .known(let size): (size, true)
            case .missing: (nil, true)
            case .invalid: (nil, false)
            }
        return Entry(
            fileID: FileID(bytes: fileIDBytes[number * FileID.size..<(number + 1) * FileID.size]),
            key: key.isEmpty ? nil : Array(key), size: size, hasValidDetails: hasValidDetails)
    }

    func fileID(at number: Int) -> FileID { self[number].fileID }
}
