import Files
import Telemetry

/// A folder with a ping in each file (S2, S3).
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 2.2 and 2.4.
struct PingFolder: FileStore {
    /// The path of the folder, or that of the file if a single file was given.
    let path: String
    private let isSingleFile: Bool
    /// The ping type in the name of the folder. Empty if the name contains none.
    let type: String
    /// The files in the order of their pings.
    private let files: FolderEntries
    /// Whether a slash separates the path of the folder from the names of its files. In the root of an archive, none does.
    private let hasSeparator: Bool

    /// A file before the files are sorted.
    struct Unsorted {
        /// The time by which the file is sorted. `nil` if neither its name nor its envelope contains one.
        let time: DecimalTime?
        /// The index of the file among the entries of the folder.
        let entry: UInt32
    }

    /// Sorts the files of a folder by their times, and files with the same time by name.
    init(path: String, type: String, files: consuming [Unsorted], of folder: borrowing FolderLook) {
        let entries = folder.files.entries
        self.path = path
        isSingleFile = path != folder.path
        hasSeparator = folder.base.utf8.count > folder.path.utf8.count
        self.type = type
        files.sort { left, right in
            switch (left.time, right.time) {
            case (let leftTime?, let rightTime?) where leftTime != rightTime: leftTime < rightTime
            case (nil, _?): true
            case (_?, nil): false
            default: entries.precedes(Int(left.entry), Int(right.entry))
            }
        }
        self.files = entries.selecting(files.lazy.map { Int($0.entry) })
    }
}

extension PingFolder {
    /// The path of the folder. A single file lies in the root of the capture.
    var folderPath: String { isSingleFile ? "" : path }

    var system: SystemName? { .mozilla }
    var kind: StoreKind { .mozillaPingFile }
    var fileCount: Int { files.count }
    var isReadAtOnce: Bool { false }
    var sizeLimit: FileSizeLimit { .usual }
    var carriesCredentials: Bool { false }

    func path(ofFile index: Int, name: inout [UInt8]) -> String {
        name.removeAll(keepingCapacity: true)
        name += folderPath.utf8
        if hasSeparator { name.append(UInt8(ascii: "/")) }
        let folderCount = name.count
        name += files.bytes(index)
        let path = String(decoding: name, as: UTF8.self)
        name.removeFirst(folderCount)
        return path
    }

    func makeReader(in context: StoreContext) -> any FileReader {
        PingReader(at: place(in: context))
    }

    /// Where the files lie, but for the path of each.
    func place(in context: StoreContext) -> MozillaPlace {
        MozillaPlace(
            capture: context.capture, path: path, store: .mozillaPingFile, namedType: type,
            applicationID: context.container.applicationID)
    }
}
