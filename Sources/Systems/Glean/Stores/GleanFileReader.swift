import Bytes
import Files
import JSONText
import Telemetry

/// A reader of the files of a data directory.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8 and 10.
struct GleanFileReader: FileScanReader {
    private let directory: GleanDirectory
    private let context: StoreContext
    private var pingReader = GleanPingReader()
    private var document = JSONDocument()

    init(_ directory: GleanDirectory, in context: StoreContext) {
        self.directory = directory
        self.context = context
    }

    mutating func read(
        _ index: Int, in folder: borrowing Folder, with files: inout StoreFileBuffer, into output: inout ScanOutput
    ) -> StoreFile? {
        guard let position = directory.position(ofFile: index) else {
            // The report is created only if the options request it, because creating it can open hundreds of pings.
            if context.options.reportsQueues { output.report(DirectoryReport.report(on: directory, folder)) }
            return nil
        }
        switch directory.folders[position.folderIndex].contents {
        case .pings(let kind): return readPing(position, kind, in: folder, with: &files, into: &output)
        case .events: return readEvents(position, in: folder, with: &files, into: &output)
        }
    }

    // MARK: Pings

    private mutating func readPing(
        _ position: GleanDirectory.FilePosition, _ kind: GleanPingReader.Folder, in folder: borrowing Folder,
        with files: inout StoreFileBuffer, into output: inout ScanOutput
    ) -> StoreFile? {
        let file = directory.storeFile(at: position)
        let name = directory.folders[position.folderIndex].fileNames[position.fileIndex]
        output.path = file.path
        // A file of another program is not quarantined (case G17).
        let isNamed = GleanName.digits(ofUUID: name.span) != nil
        guard isNamed || isWithinSizeLimit(file, in: folder) else {
            output.report(Self.foreignFileProblem)
            return nil
        }
        guard files.read(file, limit: GleanPingReader.sizeLimit, in: folder, context.options, into: &output) else {
            return nil
        }
        do throws(PingFileError) {
            let source = Source(capture: context.capture, path: file.path, store: .gleanPingFile, index: 0)
            let record = try pingReader.record(
                of: files.contents, GleanPingReader.File(name: name, folder: kind, source: source))
            if isNamed || record.target != nil {
                output.add(record, part: directory.partIndex(of: position))
            } else {
                output.report(Self.foreignFileProblem)
            }
        } catch {
            guard isNamed else {
                output.report(Self.foreignFileProblem)
                return nil
            }
            var reject = error.reject
            if kind == .unfinishedPings { reject.reason = "G21 unfinished ping: \(reject.reason)" }
            output.rejects.append(reject)
        }
        return file
    }

    private static let foreignFileProblem = Problem("G17", "not read: not a ping file, and no name of one")

    private func isWithinSizeLimit(_ file: StoreFile, in folder: borrowing Folder) -> Bool {
        // If the file cannot be opened, the error is reported when the file is read.
        guard let source = try? folder.source(file.name) else { return true }
        return source.count <= GleanPingReader.sizeLimit.bytes
    }

    // MARK: Events

    private mutating func readEvents(
        _ position: GleanDirectory.FilePosition, in folder: borrowing Folder, with files: inout StoreFileBuffer,
        into output: inout ScanOutput
    ) -> StoreFile? {
        let file = directory.storeFile(at: position)
        guard files.read(file, limit: .usual, in: folder, context.options, into: &output) else { return nil }
        let events = PendingEventsFile(files.contents, using: &document)
        let part = directory.partIndex(of: position)
        let name = String(
            decoding: directory.folders[position.folderIndex].fileNames[position.fileIndex], as: UTF8.self)
        let borrowed = events.hasEvents ? borrowedInfo(forEventsOf: name, in: folder) : nil
        let source = Source(capture: context.capture, path: file.path, store: .gleanPendingEvents, index: 0)
        for record in PendingEventRecords.makeRecords(of: events, ofPing: name, borrowed: borrowed, source: source) {
            output.add(record, part: part)
        }
        let counts: [CapturedText: Int] = [
            "markers": events.restartMarkerCount, "pending": events.eventCount - events.restartMarkerCount,
        ]
        output.report(StoreReport(parts: [StoreReport.Part(part: part, events: counts, queue: nil)]))
        output.rejects += events.rejects
        return file
    }

    private mutating func borrowedInfo(forEventsOf name: String, in folder: borrowing Folder) -> BorrowedClientInfo? {
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
