/// A row of a manifest, as it stands there: nothing of it is checked.
public struct ManifestRow: Sendable, Equatable {
    /// What a row says of its file.
    public enum File: Sendable, Equatable {
        /// The column `file`, which is read only where it matters; nil for anything but data, and for too much of it.
        case archive([UInt8]?)
        /// What a record of the old manifest says.
        case read(MBFile)
    }

    /// The root that the path is relative to.
    public let domain: [UInt8]
    /// The path below it; empty for the root itself.
    public let path: [UInt8]
    /// The name of the file in the backup; nil where there is no such column.
    public let fileID: [UInt8]?
    /// The column `flags`.
    public let flags: Int
    /// What is said of the file.
    public let file: File

    /// Makes a row.
    public init(domain: [UInt8], path: [UInt8], fileID: [UInt8]?, flags: Int, file: File) {
        self.domain = domain
        self.path = path
        self.fileID = fileID
        self.flags = flags
        self.file = file
    }

    /// What is said of the file; nil if it cannot be understood.
    public var details: MBFile? {
        switch file {
        case .archive(let bytes): bytes.flatMap { MBFile(archive: $0) }
        case .read(let file): file
        }
    }
}
