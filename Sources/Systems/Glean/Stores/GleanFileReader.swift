import Bytes
import Files
import JSONText
import Telemetry

/// A reader of the files of a data directory.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8 and 10.
struct GleanFileReader: StoreReader {
    private let directory: GleanDirectory
    private let context: StoreContext
    private var pingReader = GleanPingReader()
    private var document = JSONDocument()
    /// The rejects of the file that were not reported yet, because a file can have millions.
    private var rejects: ArraySlice<Reject> = []

    init(_ directory: GleanDirectory, in context: StoreContext) {
        self.directory = directory
        self.context = context
    }

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        if rejects.isEmpty, let position = directory.position(ofFile: index) {
            switch directory.folders[position.folderIndex].contents {
            case .pings(let kind): try readPing(bytes, position, kind, from: source, into: &output)
            case .events: try readEvents(bytes, position, from: source, into: &output)
            }
        }
        return try output.reject(&rejects)
    }

    // MARK: Pings

    private mutating func readPing(
        _ bytes: [UInt8], _ position: GleanDirectory.FilePosition, _ kind: GleanPingReader.Folder,
        from source: Source, into output: inout ScanOutput
    ) throws {
        let name = directory.folders[position.folderIndex].fileNames[position.fileIndex]
        let isNamed = GleanName.digits(ofUUID: name.span) != nil
        let record: Record
        do throws(PingFileError) {
            record = try pingReader.record(
                of: bytes, GleanPingReader.File(name: name, folder: kind, source: source))
        } catch {
            guard isNamed else { return output.report(Self.foreignFileProblem) }
            var reject = error.reject
            if kind == .unfinishedPings { reject.reason = "G21 unfinished ping: \(reject.reason)" }
            return rejects.append(reject)
        }
        // A file of another program is not quarantined (case G17).
        guard isNamed || record.target != nil else { return output.report(Self.foreignFileProblem) }
        try output.add(record, part: directory.partIndex(of: position))
    }

    static let foreignFileProblem = Problem("G17", "not read: not a ping file, and no name of one")

    // MARK: Events

    private mutating func readEvents(
        _ bytes: [UInt8], _ position: GleanDirectory.FilePosition, from source: Source,
        into output: inout ScanOutput
    ) throws {
        let events = PendingEventsFile(bytes, using: &document)
        let part = directory.partIndex(of: position)
        let name = String(
            decoding: directory.folders[position.folderIndex].fileNames[position.fileIndex], as: UTF8.self)
        let borrowed = events.hasEvents ? borrowedInfo(forEventsOf: name) : nil
        for record in PendingEventRecords.makeRecords(of: events, ofPing: name, borrowed: borrowed, source: source) {
            try output.addPendingEvents(record, part: part)
        }
        let counts: [CapturedText: Int] = [
            "markers": events.restartMarkerCount, "pending": events.eventCount - events.restartMarkerCount,
        ]
        output.report(StoreReport(parts: [StoreReport.Part(part: part, events: counts, queue: nil)]))
        rejects = events.rejects[...]
    }

    private mutating func borrowedInfo(forEventsOf name: String) -> BorrowedClientInfo? {
        guard let folder = try? context.tree.folder(at: directory.folderPath) else { return nil }
        let newestPings = directory.newestPings.newestPings { Self.findNewestPings(in: directory, folder) }
        var bytes: [UInt8] = []
        if let position = newestPings.position(forEventsOf: name) {
            return Self.ping(at: position, of: directory, folder, &pingReader, &bytes).flatMap {
                BorrowedClientInfo($0)
            }
        }
        // The file with the client id is optional and not a store, so errors are not reported.
        guard name == GleanName.events,
            (try? folder.read(Array(GleanStores.clientIDFileName.utf8), limit: 1 << 10, into: &bytes)) != nil
        else { return nil }
        return BorrowedClientInfo(clientFile: bytes)
    }

    /// Finds the newest pings in `directory`.
    ///
    /// Unreadable files are skipped, because their own scan reports the errors.
    private static func findNewestPings(in directory: GleanDirectory, _ folder: borrowing Folder) -> NewestPings {
        var newestPings = NewestPings()
        var reader = GleanPingReader()
        var bytes: [UInt8] = []
        for queue in directory.queueFolderIndexes {
            for index in directory.folders[queue].fileNames.indices {
                let position = GleanDirectory.FilePosition(folderIndex: queue, fileIndex: index)
                guard let ping = ping(at: position, of: directory, folder, &reader, &bytes) else { continue }
                newestPings.add(ping, at: position)
            }
        }
        return newestPings
    }

    /// Returns the record of the queued ping at `position`, or `nil` if the ping cannot be read.
    private static func ping(
        at position: GleanDirectory.FilePosition, of directory: GleanDirectory, _ folder: borrowing Folder,
        _ reader: inout GleanPingReader, _ bytes: inout [UInt8]
    ) -> Record? {
        let folderOfPing = directory.folders[position.folderIndex]
        let path = directory.storeFile(at: position).name
        guard case .pings(let kind) = folderOfPing.contents,
            (try? folder.read(path, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil
        else { return nil }
        // Only the contents of the record are used, so its source does not matter.
        let source = Source(capture: "", path: "", store: .gleanPingFile, index: 0)
        let file = GleanPingReader.File(
            name: folderOfPing.fileNames[position.fileIndex], folder: kind, source: source)
        return try? reader.record(of: bytes, file)
    }
}
