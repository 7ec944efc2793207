/// A store that is a single file.
public protocol SingleFileStore: FileStore {
    /// The location of the file that the store consists of.
    var location: FileLocation { get }
}

extension SingleFileStore {
    /// The path of the file.
    public var path: String { location.path }
    /// The path of the folder that contains the file.
    public var folderPath: String { location.folderPath }
    /// The number of files, which is always 1.
    public var fileCount: Int { 1 }
    /// Whether all files must be read by a single job, which is `false` because there is only one file.
    public var isReadByOneJob: Bool { false }

    /// Returns the path of the file, and sets `name` to its name.
    public func path(ofFile index: Int, name: inout [UInt8]) -> String {
        name = location.name
        return path
    }
}

/// The location of a file, stored compactly because a capture can have hundreds of thousands of stores.
public struct FileLocation: Sendable {
    /// The path relative to the root of the capture.
    public let path: String
    private let folderLength: UInt32
    private let nameLength: UInt32

    /// Creates the location of a file in a folder.
    public init(name: String, in folder: borrowing InspectedFolder) {
        let name = Array(name.utf8)
        path = folder.path(of: name)
        folderLength = UInt32(folder.path.utf8.count)
        nameLength = UInt32(name.count)
    }

    /// The path of the folder that contains the file.
    public var folderPath: String { String(decoding: path.utf8.prefix(Int(folderLength)), as: UTF8.self) }

    /// The name of the file as UTF-8 bytes.
    public var name: [UInt8] { Array(path.utf8.suffix(Int(nameLength))) }
}
