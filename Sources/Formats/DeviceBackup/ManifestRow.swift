/// An unvalidated row of a backup manifest.
public struct ManifestRow: Sendable, Equatable {
    /// The stored properties of the file.
    public enum File: Sendable, Equatable {
        /// The keyed archive in the column `file`, which is parsed on demand.
        ///
        /// The archive is `nil` if the file is not in an app container, or if the column is too large or does not
        /// contain data.
        case archive([UInt8]?)
        /// The properties that were read from a record of a manifest of iOS 9 or earlier.
        case parsed(MBFile)
    }

    /// The domain that contains the file.
    public let domain: [UInt8]
    /// The path of the file in the domain, which is empty for the root of the domain.
    public let path: [UInt8]
    /// The name of the file in the backup, or `nil` in a manifest of iOS 9 or earlier, which has no such column.
    public let fileID: [UInt8]?
    /// The value of the column `flags`, or 0 if there is no such column or its value is not an integer.
    public let flags: Int
    /// The stored properties of the file.
    public let file: File

    /// Creates a row.
    public init(domain: [UInt8], path: [UInt8], fileID: [UInt8]?, flags: Int, file: File) {
        self.domain = domain
        self.path = path
        self.fileID = fileID
        self.flags = flags
        self.file = file
    }

    /// The properties of the file, or `nil` if they are malformed.
    public var details: MBFile? {
        switch file {
        case .archive(let bytes): bytes.flatMap { MBFile(archive: $0) }
        case .parsed(let file): file
        }
    }
}
