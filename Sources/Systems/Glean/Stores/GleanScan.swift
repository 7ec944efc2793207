import Files
import JSONText
import Telemetry

/// Reads files of a data directory one after another.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8 and 10.
struct GleanScan: StoreScan {
    private let directory: GleanDirectory
    private let context: StoreContext
    private var left: Range<Int>
    private var pings = GleanPingReader()
    private var document = JSONDocument()
    private var files = StoreFileReading()
    /// The file that was read last, while some of its rejects are still to be quarantined.
    private var current: StoreFile?
    private var rejects: [Reject] = []

    init(_ directory: GleanDirectory, _ files: Range<Int>, in context: StoreContext) {
        self.directory = directory
        self.context = context
        left = files
    }

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        do throws(FileError) {
            let folder = try context.tree.folder(at: directory.folderPath)
            while !output.isFull {
                if let file = current {
                    if files.quarantine(&rejects, of: file, into: &output) { current = nil }
                } else if let index = left.first {
                    left.removeFirst()
                    read(index, in: folder, into: &output)
                } else {
                    return false
                }
            }
            return !left.isEmpty || current != nil
        } catch {
            left = left.upperBound..<left.upperBound
            output.report(Problem("unreadable", error.description), path: directory.path)
            return false
        }
    }

    private mutating func read(_ index: Int, in folder: borrowing Folder, into output: inout ScanOutput) {
        switch directory.file(index) {
        case .facts:
            // Nobody else shows them, and each ping is opened for them.
            if context.options.reportsQueues { output.report(DirectoryFacts(directory, folder).report) }
        case .file(let place, let index):
            let contents = directory.folders[place].contents
            switch contents {
            case .pings(let kind): readPing(place, index, kind, in: folder, into: &output)
            case .events: readEvents(place, index, in: folder, into: &output)
            }
        }
    }

    // MARK: Pings

    private mutating func readPing(
        _ place: Int, _ index: Int, _ kind: GleanPingReader.Folder, in folder: borrowing Folder,
        into output: inout ScanOutput
    ) {
        let file = directory.storeFile(folder: place, index: index)
        let name = directory.folders[place].name(index)
        output.path = file.path
        // A stranger's file is not copied to quarantine [G17].
        let isNamed = GleanName.digits(ofUUID: name.span) != nil
        guard isNamed || fits(file, in: folder) else { return output.report(Self.stranger) }
        guard files.read(file, limit: GleanPingReader.sizeLimit, in: folder, context.options, into: &output) else {
            return
        }
        do throws(PingFileError) {
            let source = Source(capture: context.capture, path: file.path, store: .gleanPingFile, index: 0)
            let record = try pings.record(
                of: files.contents, GleanPingReader.File(name: name, folder: kind, source: source))
            guard isNamed || record.target != nil else { return output.report(Self.stranger) }
            output.add(record, part: directory.part(folder: place, index: index))
        } catch {
            guard isNamed else { return output.report(Self.stranger) }
            var reject = error.reject
            if kind == .unfinished { reject.reason = "G21 unfinished ping: \(reject.reason)" }
            rejects = [reject]
            current = file
        }
    }

    private static let stranger = Problem("G17", "not read: not a ping file, and no name of one")

    private func fits(_ file: StoreFile, in folder: borrowing Folder) -> Bool {
        // Reading the file reports the error.
        guard let source = try? folder.source(file.name) else { return true }
        return source.count <= GleanPingReader.sizeLimit.bytes
    }

    // MARK: Events

    private mutating func readEvents(
        _ place: Int, _ index: Int, in folder: borrowing Folder, into output: inout ScanOutput
    ) {
        let file = directory.storeFile(folder: place, index: index)
        guard files.read(file, limit: .usual, in: folder, context.options, into: &output) else { return }
        let events = PendingEventsFile(files.contents, using: &document)
        let part = directory.part(folder: place, index: index)
        let name = String(decoding: directory.folders[place].name(index), as: UTF8.self)
        let borrowed = events.hasEvents ? borrow(for: name, in: folder) : nil
        let source = Source(capture: context.capture, path: file.path, store: .gleanPendingEvents, index: 0)
        for record in PendingEventRecords.make(events, ofPing: name, borrowed: borrowed, source: source) {
            output.add(record, part: part)
        }
        let counts = ["markers": events.markers, "pending": events.count - events.markers]
        output.report(StoreReport(parts: [StoreReport.Part(part: part, events: counts, queue: nil)]))
        guard !events.rejects.isEmpty else { return }
        rejects = events.rejects
        current = file
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
        for place in directory.queues {
            for index in directory.folders[place].files.indices {
                let place = Lenders.Place(folder: place, index: index)
                guard let ping = ping(at: place, of: directory, folder, &reader, &bytes) else { continue }
                lenders.add(ping, at: place)
            }
        }
        return lenders
    }

    /// A queued ping; nil if it cannot be read.
    private static func ping(
        at place: Lenders.Place, of directory: GleanDirectory, _ folder: borrowing Folder,
        _ reader: inout GleanPingReader, _ bytes: inout [UInt8]
    ) -> Record? {
        let files = directory.folders[place.folder]
        let path = directory.storeFile(folder: place.folder, index: place.index).name
        guard case .pings(let kind) = files.contents,
            (try? folder.read(path, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil
        else { return nil }
        // Where it stands matters to nobody here.
        let source = Source(capture: "", path: "", store: .gleanPingFile, index: 0)
        let file = GleanPingReader.File(name: files.name(place.index), folder: kind, source: source)
        return try? reader.record(of: bytes, file)
    }
}
