import Files
import JSONText
import Telemetry

/// What is worth telling of a data directory besides its records: the queue by the SDK's rules, and the databases, of which
/// nothing becomes a record.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 7 and 11.3.
enum DirectoryFacts {
    /// Returns the report on a directory.
    static func report(on directory: GleanDirectory, _ folder: borrowing Folder) -> StoreReport {
        var report = StoreReport()
        if let database = databases(in: folder) { report.facts.append(database) }
        report.facts += contents(of: folder)
        if let pending = directory.folders.firstIndex(where: { $0.contents == .pings(.pendingPings) }) {
            let part = directory.part(of: GleanDirectory.Place(folder: pending, index: 0))
            let queue = queue(directory, pending, folder)
            report.parts = [StoreReport.Part(part: part, events: nil, queue: queue)]
        }
        return report
    }

    // MARK: Databases

    private static func databases(in folder: borrowing Folder) -> String? {
        // Facts are shown in addition to the records. The scan of the pings reports what cannot be read.
        guard let entries = try? folder.folder(at: GleanStores.databases).entries() else { return nil }
        let names = (0..<entries.count).map { String(decoding: entries.name($0), as: UTF8.self) }
        let known = names.filter(GleanStores.databaseFiles.contains).sorted()
        guard !known.isEmpty else { return nil }
        return "database \(known.joined(separator: ", ")): the phone makes pings of it, no record is made"
    }

    private static func contents(of folder: borrowing Folder) -> [String] {
        var bytes: [UInt8] = []
        let name = Array("\(GleanStores.databases)/\(GleanStores.safeDatabase)".utf8)
        guard (try? folder.read(name, limit: StoreLimits.file, into: &bytes)) != nil,
            let database = SafeDatabase(bytes)
        else { return [] }
        var facts: [String] = []
        if let client = database.client { facts.append("client id \(client)") }
        let waiting = database.metrics.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if !waiting.isEmpty { facts.append("metrics that wait for their ping: \(waiting.joined(separator: ", "))") }
        return facts
    }

    // MARK: The queue

    private static func queue(_ directory: GleanDirectory, _ pending: Int, _ folder: borrowing Folder) -> GleanQueue {
        let files = directory.folders[pending].files
        var bytes: Int?
        if files.count <= GleanQueue.mostSummed {
            bytes = 0
            for index in files.indices {
                let name = directory.storeFile(GleanDirectory.Place(folder: pending, index: index)).name
                if let source = try? folder.source(name) { bytes = (bytes ?? 0) + source.count }
            }
        }
        let requests = directory.folders.first { $0.contents == .pings(.deletionRequests) }?.files.count ?? 0
        return GleanQueue(
            pings: files.count, bytes: bytes, deletionRequests: requests, sdk: sdk(directory, pending, folder))
    }

    /// The version of the SDK that the first of the pings names that do.
    private static func sdk(_ directory: GleanDirectory, _ pending: Int, _ folder: borrowing Folder) -> String? {
        var bytes: [UInt8] = []
        for index in directory.folders[pending].files.indices.prefix(mostAsked) {
            let name = directory.storeFile(GleanDirectory.Place(folder: pending, index: index)).name
            guard (try? folder.read(name, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil,
                let lines = try? PingLines(bytes), let document = try? JSONDocument(Array(bytes[lines.body])),
                let client = document.value(of: GleanKeys.clientInfo, in: document.root),
                let version = document.string(at: GleanKeys.sdkBuild, in: client)
            else { continue }
            return version
        }
        return nil
    }

    /// How many pings are asked for the version: some kinds do not name it.
    private static let mostAsked = 16
}
