import Files
import JSONText
import Telemetry

/// Creates the report on the queue of pings and the databases of a data directory.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 7 and 11.3.
enum DirectoryReport {
    static func report(on directory: GleanDirectory, _ folder: borrowing Folder) -> StoreReport {
        var report = StoreReport()
        if let fact = databaseFact(in: folder) { report.facts.append(fact) }
        report.facts += contentFacts(in: folder)
        if let pending = directory.folders.firstIndex(where: { $0.contents == .pings(.pendingPings) }) {
            let part = directory.part(of: GleanDirectory.FilePosition(folder: pending, index: 0))
            let queue = queue(directory, pending, folder)
            report.parts = [StoreReport.Part(part: part, events: nil, queue: queue)]
        }
        return report
    }

    // MARK: Databases

    private static func databaseFact(in folder: borrowing Folder) -> String? {
        // The scan of the pings reports a folder that cannot be read.
        guard let entries = try? folder.folder(at: GleanStores.databases).entries() else { return nil }
        let names = (0..<entries.count).map { String(decoding: entries.name($0), as: UTF8.self) }
        let known = names.filter(GleanStores.databaseFiles.contains).sorted()
        guard !known.isEmpty else { return nil }
        return "database \(known.joined(separator: ", ")): the app makes pings of it, so no records are made"
    }

    private static func contentFacts(in folder: borrowing Folder) -> [String] {
        var bytes: [UInt8] = []
        let name = Array("\(GleanStores.databases)/\(GleanStores.safeDatabase)".utf8)
        guard (try? folder.read(name, limit: StoreLimits.file, into: &bytes)) != nil,
            let database = SafeDatabase(bytes)
        else { return [] }
        var facts: [String] = []
        if let client = database.client { facts.append("client id \(client)") }
        let waiting = database.metrics.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if !waiting.isEmpty { facts.append("metrics not in a ping yet: \(waiting.joined(separator: ", "))") }
        return facts
    }

    // MARK: The queue

    private static func queue(_ directory: GleanDirectory, _ pending: Int, _ folder: borrowing Folder) -> GleanQueue {
        let files = directory.folders[pending].files
        var bytes: Int?
        if files.count <= GleanQueue.maximumSummedPings {
            bytes = 0
            for index in files.indices {
                let name = directory.storeFile(GleanDirectory.FilePosition(folder: pending, index: index)).name
                if let source = try? folder.source(name) { bytes = (bytes ?? 0) + source.count }
            }
        }
        let requests = directory.folders.first { $0.contents == .pings(.deletionRequests) }?.files.count ?? 0
        return GleanQueue(
            pings: files.count, bytes: bytes, deletionRequests: requests, sdk: sdk(directory, pending, folder))
    }

    /// Returns the version of the SDK in the first ping that contains it.
    private static func sdk(_ directory: GleanDirectory, _ pending: Int, _ folder: borrowing Folder) -> String? {
        var bytes: [UInt8] = []
        for index in directory.folders[pending].files.indices.prefix(maximumPingsRead) {
            let name = directory.storeFile(GleanDirectory.FilePosition(folder: pending, index: index)).name
            guard (try? folder.read(name, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil,
                let lines = try? PingLines(bytes), let document = try? JSONDocument(Array(bytes[lines.body])),
                let client = document.value(of: GleanKeys.clientInfo, in: document.root),
                let version = document.string(at: GleanKeys.sdkBuild, in: client)
            else { continue }
            return version
        }
        return nil
    }

    /// The maximum number of pings that are read to find the SDK version, because some do not contain it.
    private static let maximumPingsRead = 16
}
