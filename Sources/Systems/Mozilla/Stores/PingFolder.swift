import Files
import Telemetry

/// A folder that contains one ping in each file (formats S2 and S3).
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 2.2 and 2.4.
struct PingFolder: Store {
    /// The path of the folder, or of the file if a single file was specified.
    let path: String
    private let isSingleFile: Bool
    /// The ping type in the name of the folder, or an empty string if the name contains none.
    let pingType: String
    /// The names of the files, sorted by the times of their pings.
    private let files: [[UInt8]]
    /// Whether a slash follows the folder path in file paths, which is not the case in the root of an archive.
    private let hasSeparator: Bool

    /// A file and its time, for sorting.
    struct UnsortedFile {
        /// The time in the name of the file or in its envelope, or `nil` if both contain none.
        let time: DecimalTime?
        let name: [UInt8]
    }

    /// Creates a store of the given files of `folder`, and sorts the files by time and then by name.
    init(path: String, type: String, files: consuming [UnsortedFile], of folder: borrowing InspectedFolder) {
        self.path = path
        isSingleFile = path != folder.path
        hasSeparator = folder.base.utf8.count > folder.path.utf8.count
        pingType = type
        files.sort { left, right in
            switch (left.time, right.time) {
            case (let leftTime?, let rightTime?) where leftTime != rightTime: leftTime < rightTime
            case (nil, _?): true
            case (_?, nil): false
            default: left.name.lexicographicallyPrecedes(right.name)
            }
        }
        self.files = files.map(\.name)
    }
}

extension PingFolder {
    /// The path of the folder, or an empty string for a single file, which is in the root of the capture.
    var folderPath: String { isSingleFile ? "" : path }

    var system: SystemName? { .mozilla }
    var kind: StoreKind { .mozillaPingFile }
    var fileCount: Int { files.count }

    func file(at index: Int) -> StoreFile? {
        let name = files[index]
        var path = Array(folderPath.utf8)
        path.reserveCapacity(path.count + name.count + 1)
        if hasSeparator { path.append(UInt8(ascii: "/")) }
        path += name
        return StoreFile(name: name, path: String(decoding: path, as: UTF8.self), kind: kind)
    }

    func makeReader(in context: StoreContext) -> any StoreReader { pingReader(in: context) }

    func pingReader(in context: StoreContext) -> PingReader {
        PingReader(.pingFile, pingTypeFromName: pingType, applicationID: context.container.applicationID)
    }
}
