import Files
import Telemetry

/// A folder with a ping in each file (S2, S3): its files in the order in which their pings come out.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 2.2 and 2.4.
struct PingFolder: FileStore {
    let path: String
    let folderPath: String
    let parts: [StorePart]
    /// The ping type that the folder is named for; empty if its name does not tell one.
    let type: String
    /// The beginning of the paths of the files.
    private let base: String
    /// The entries of the folder, the files among them.
    private let entries: FolderEntries
    /// The files by their places there, in order.
    private var files: [UInt32] = []
    /// What was parsed to see the time of a file, by its place among the entries.
    private var parsed: [UInt32: ParsedPingFile] = [:]
    /// The files that are still to be put in order.
    private var unsorted: [Unsorted] = []

    private struct Unsorted {
        /// The time that orders the file; nil where neither name nor envelope tells one.
        let time: DecimalTime?
        let entry: UInt32
    }

    /// Makes a folder without files.
    /// - Parameters:
    ///   - path: what reports call the store; the path of the file where one of them is given alone.
    ///   - folderPath: the path of the folder in the capture.
    ///   - base: what the paths of its files begin with.
    ///   - type: the ping type that the folder is named for.
    ///   - entries: the entries of the folder.
    init(path: String, folderPath: String, base: String, type: String, entries: FolderEntries) {
        self.entries = entries
        self.path = path
        self.folderPath = folderPath
        self.base = base
        self.type = type
        parts = [StorePart(kind: .mozillaPingFile, path: path)]
    }

    /// Adds a file.
    /// - Parameters:
    ///   - entry: its place among the entries.
    ///   - time: what orders it; nil where neither name nor envelope tells.
    ///   - parsed: what was parsed to see the time, where that is kept.
    mutating func append(_ entry: Int, time: DecimalTime?, parsed: ParsedPingFile? = nil) {
        unsorted.append(Unsorted(time: time, entry: UInt32(entry)))
        if let parsed { self.parsed[UInt32(entry)] = parsed }
    }

    /// A file, by its place in the order, where it was parsed already to see its time.
    func parsed(_ index: Int) -> ParsedPingFile? { parsed[files[index]] }

    /// Puts the files in order: by the time in the name, else of the envelope; ties by name.
    mutating func sort() {
        unsorted.sort { [entries] left, right in
            switch (left.time, right.time) {
            case (let leftTime?, let rightTime?) where leftTime != rightTime: leftTime < rightTime
            case (nil, _?): true
            case (_?, nil): false
            default: entries.precedes(Int(left.entry), Int(right.entry))
            }
        }
        files = unsorted.map(\.entry)
        unsorted = []
    }
}

extension PingFolder {
    var system: SystemName? { .mozilla }
    var companionPaths: [String] { [] }
    var fileCount: Int { files.count }
    var isReadAtOnce: Bool { false }
    var sizeLimit: FileSizeLimit { .usual }
    var carriesCredentials: Bool { false }

    func file(_ index: Int) -> (name: [UInt8], path: String) {
        let name = entries.name(Int(files[index]))
        return (name, base + String(decoding: name, as: UTF8.self))
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
