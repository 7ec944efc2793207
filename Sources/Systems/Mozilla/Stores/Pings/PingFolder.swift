import Files
import Telemetry

/// A folder with a ping in each file (S2, S3): its files in the order in which their pings come out.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 2.2 and 2.4.
struct PingFolder: FileStore {
    let path: String
    let folderPath: String
    /// The ping type that the folder is named for; empty if its name does not tell one.
    let type: String
    /// What stands between the path of the folder and the names of its files.
    private let separator: String
    /// The names of the files, in order: all that is kept of what may be millions.
    private let names: PackedNames
    /// What was parsed to see the time of a file, by its place in the order.
    private var parsed: [Int: ParsedPingFile] = [:]

    /// A file, before the files are put in order.
    struct Unsorted {
        /// Its place among the entries of the folder.
        let entry: Int
        /// The time that orders it; nil where neither its name nor its envelope tells one.
        let time: DecimalTime?
        /// What was parsed to see the time, where that is kept.
        var parsed: ParsedPingFile?
    }

    /// Puts the files of a folder in order: by the time in the name, else of the envelope; ties by name.
    /// - Parameters:
    ///   - path: what reports call the store; the path of the file where one of them is given alone.
    ///   - folderPath: the path of the folder in the capture.
    ///   - base: what the paths of its files begin with.
    ///   - type: the ping type that the folder is named for.
    ///   - files: its ping files.
    ///   - entries: the entries of the folder, the files among them.
    init(
        path: String, folderPath: String, base: String, type: String, files: [Unsorted], of entries: FolderEntries
    ) {
        self.path = path
        self.folderPath = folderPath
        // Told by bytes: a name can end with what makes one character of itself and the slash.
        separator = String(base.utf8.dropFirst(folderPath.utf8.count)) ?? ""
        self.type = type
        // Without what was parsed, which is large: sorting moves what it sorts.
        var order = files.indices.map { (place: $0, entry: files[$0].entry, time: files[$0].time) }
        order.sort { left, right in
            switch (left.time, right.time) {
            case (let leftTime?, let rightTime?) where leftTime != rightTime: leftTime < rightTime
            case (nil, _?): true
            case (_?, nil): false
            default: entries.precedes(left.entry, right.entry)
            }
        }
        names = PackedNames(of: entries, order: order.map(\.entry))
        for (index, file) in order.enumerated() {
            if let parsed = files[file.place].parsed { self.parsed[index] = parsed }
        }
    }

    /// A file, by its place in the order, where it was parsed already to see its time.
    func parsed(_ index: Int) -> ParsedPingFile? { parsed[index] }
}

extension PingFolder {
    var system: SystemName? { .mozilla }
    var kind: StoreKind { .mozillaPingFile }
    var parts: [StorePart] { [StorePart(kind: kind, path: path)] }
    var companionPaths: [String] { [] }
    var fileCount: Int { names.count }
    var isReadAtOnce: Bool { false }
    var sizeLimit: FileSizeLimit { .usual }
    var carriesCredentials: Bool { false }

    func path(ofFile index: Int, name: inout [UInt8]) -> String {
        name.removeAll(keepingCapacity: true)
        name += folderPath.utf8
        name += separator.utf8
        let folderCount = name.count
        names.append(index, to: &name)
        let path = String(decoding: name, as: UTF8.self)
        name.removeFirst(folderCount)
        return path
    }

    func makeReader(in context: StoreContext) -> any FileReader {
        PingReader(at: place(in: context), in: self)
    }

    /// Where the files lie, but for the path of each.
    func place(in context: StoreContext) -> MozillaPlace {
        MozillaPlace(
            capture: context.capture, path: path, store: .mozillaPingFile, namedType: type,
            applicationID: context.container.applicationID)
    }
}
