import Files
import JSONText
import Telemetry

/// Reads the files of a data directory.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8 and 10.
struct GleanFileReader: FileScanReader {
    private let directory: GleanDirectory
    private let context: StoreContext
    private var pings = GleanPingReader()
    private var document = JSONDocument()

    init(_ directory: GleanDirectory, in context: StoreContext) {
        self.directory = directory
        self.context = context
    }

    mutating func read(
        _ index: Int, in folder: borrowing Folder, with files: inout StoreFileReading, into output: inout ScanOutput
    ) -> StoreFile? {
        guard let place = directory.place(ofFile: index) else {
            // Only a scan shows the facts, and each ping is opened to determine them.
            if context.options.reportsQueues { output.report(DirectoryFacts.report(on: directory, folder)) }
            return nil
        }
        switch directory.folders[place.folder].contents {
        case .pings(let kind): return readPing(place, kind, in: folder, with: &files, into: &output)
        case .events: return readEvents(place, in: folder, with: &files, into: &output)
        }
    }

    // MARK: Pings

    private mutating func readPing(
        _ place: GleanDirectory.Place, _ kind: GleanPingReader.Folder, in folder: borrowing Folder,
        with files: inout StoreFileReading, into output: inout ScanOutput
    ) -> StoreFile? {
        let file = directory.storeFile(place)
        let name = directory.folders[place.folder].name(place.index)
        output.path = file.path
        // A stranger's file is not copied to quarantine [G17].
        let isNamed = GleanName.digits(ofUUID: name.span) != nil
        guard isNamed || fits(file, in: folder) else {
            output.report(Self.stranger)
            return nil
        }
        guard files.read(file, limit: GleanPingReader.sizeLimit, in: folder, context.options, into: &output) else {
            return nil
        }
        do throws(PingFileError) {
            let source = Source(capture: context.capture, path: file.path, store: .gleanPingFile, index: 0)
            let record = try pings.record(
                of: files.contents, GleanPingReader.File(name: name, folder: kind, source: source))
            if isNamed || record.target != nil {
                output.add(record, part: directory.part(of: place))
            } else {
                output.report(Self.stranger)
            }
        } catch {
            guard isNamed else {
                output.report(Self.stranger)
                return nil
            }
            var reject = error.reject
            if kind == .unfinished { reject.reason = "G21 unfinished ping: \(reject.reason)" }
            output.rejects.append(reject)
        }
        return file
    }

    private static let stranger = Problem("G17", "not read: not a ping file, and no name of one")

    private func fits(_ file: StoreFile, in folder: borrowing Folder) -> Bool {
        // Reading the file reports the error.
        guard let source = try? folder.source(file.name) else { return true }
        return source.count <= GleanPingReader.sizeLimit.bytes
    }

    // MARK: Events

    private mutating func readEvents(
        _ place: GleanDirectory.Place, in folder: borrowing Folder, with files: inout StoreFileReading,
        into output: inout ScanOutput
    ) -> StoreFile? {
        let file = directory.storeFile(place)
        guard files.read(file, limit: .usual, in: folder, context.options, into: &output) else { return nil }
        let events = PendingEventsFile(files.contents, using: &document)
        let part = directory.part(of: place)
        let name = String(decoding: directory.folders[place.folder].name(place.index), as: UTF8.self)
        let borrowed = events.hasEvents ? borrow(for: name, in: folder) : nil
        let source = Source(capture: context.capture, path: file.path, store: .gleanPendingEvents, index: 0)
        for record in PendingEventRecords.make(events, ofPing: name, borrowed: borrowed, source: source) {
            output.add(record, part: part)
        }
        let counts = ["markers": events.markers, "pending": events.count - events.markers]
        output.report(StoreReport(parts: [StoreReport.Part(part: part, events: counts, queue: nil)]))
        output.rejects += events.rejects
        return file
    }

    private mutating func borrow(for name: String, in folder: borrowing Folder) -> BorrowedInfo? {
        let lenders = directory.lenders.lenders { Self.findLenders(in: directory, folder) }
        var bytes: [UInt8] = []
        if let place = lenders.lender(to: name) {
            return Self.ping(at: place, of: directory, folder, &pings, &bytes).flatMap { BorrowedInfo($0) }
        }
        // The file that only names the client is no store. Without it, nothing is borrowed.
        guard name == GleanName.events,
            (try? folder.read(Array(GleanStores.clientFile.utf8), limit: 1 << 10, into: &bytes)) != nil
        else { return nil }
        return BorrowedInfo(clientFile: bytes)
    }

    /// Reads the queued pings once more: what cannot be read is told where the ping itself is read.
    private static func findLenders(in directory: GleanDirectory, _ folder: borrowing Folder) -> Lenders {
        var lenders = Lenders()
        var reader = GleanPingReader()
        var bytes: [UInt8] = []
        for queue in directory.queues {
            for index in directory.folders[queue].files.indices {
                let place = GleanDirectory.Place(folder: queue, index: index)
                guard let ping = ping(at: place, of: directory, folder, &reader, &bytes) else { continue }
                lenders.add(ping, at: place)
            }
        }
        return lenders
    }

    /// A queued ping; nil if it cannot be read.
    private static func ping(
        at place: GleanDirectory.Place, of directory: GleanDirectory, _ folder: borrowing Folder,
        _ reader: inout GleanPingReader, _ bytes: inout [UInt8]
    ) -> Record? {
        let files = directory.folders[place.folder]
        let path = directory.storeFile(place).name
        guard case .pings(let kind) = files.contents,
            (try? folder.read(path, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil
        else { return nil }
        // Where it stands matters to nobody here.
        let source = Source(capture: "", path: "", store: .gleanPingFile, index: 0)
        let file = GleanPingReader.File(name: files.name(place.index), folder: kind, source: source)
        return try? reader.record(of: bytes, file)
    }
}
