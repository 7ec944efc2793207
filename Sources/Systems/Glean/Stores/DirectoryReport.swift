import Bytes
import Files
import JSONText
import Telemetry

/// The functions that create the report on a data directory: its queue of pings and its databases.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 7 and 11.3.
enum DirectoryReport {
    static func report(on directory: GleanDirectory, _ folder: borrowing Folder) -> StoreReport {
        var report = StoreReport()
        if let fact = databaseFact(in: folder) { report.facts.append(fact) }
        report.facts += databaseContentFacts(in: folder)
        if let pendingFolderIndex = directory.folders.firstIndex(where: { $0.contents == .pings(.pendingPings) }) {
            let part = directory.partIndex(
                of: GleanDirectory.FilePosition(folderIndex: pendingFolderIndex, fileIndex: 0))
            let queue = queue(of: directory, pendingFolderIndex: pendingFolderIndex, in: folder)
            report.parts = [StoreReport.Part(part: part, events: nil, queue: queue)]
        }
        return report
    }

    // MARK: Databases

    private static func databaseFact(in folder: borrowing Folder) -> String? {
        // The scan of the pings reports a folder that cannot be read.
        guard let entries = try? folder.folder(at: GleanStores.databasesFolderName).entries() else { return nil }
        let names = (0..<entries.count).map { String(decoding: entries.name($0), as: UTF8.self) }
        let known = names.filter(GleanStores.databaseFileNames.contains).sorted()
        guard !known.isEmpty else { return nil }
        return "database \(known.joined(separator: ", ")): the app makes pings of it, so no records are made"
    }

    private static func databaseContentFacts(in folder: borrowing Folder) -> [String] {
        var bytes: [UInt8] = []
        let name = Array("\(GleanStores.databasesFolderName)/\(GleanStores.safeDatabaseName)".utf8)
        guard (try? folder.read(name, limit: StoreLimits.file, into: &bytes)) != nil,
            let database = SafeDatabase(bytes)
        else { return [] }
        var facts: [String] = []
        if let client = database.clientID { facts.append("client id \(client)") }
        let waiting = CountedList.text(
            of: database.metricCounts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) })
        if !waiting.isEmpty { facts.append("metrics not in a ping yet: \(waiting)") }
        return facts
    }

    // MARK: The queue

    private static func queue(of directory: GleanDirectory, pendingFolderIndex: Int, in folder: borrowing Folder)
        -> GleanQueue
    {
        let files = directory.folders[pendingFolderIndex].fileIndexes
        var byteCount: Int?
        if files.count <= GleanQueue.maximumSummedPingCount {
            byteCount = 0
            for index in files.indices {
                let name = directory.storeFile(
                    at: GleanDirectory.FilePosition(folderIndex: pendingFolderIndex, fileIndex: index)
                ).name
                if let source = try? folder.source(name) { byteCount = (byteCount ?? 0) + source.count }
            }
        }
        let requests = directory.folders.first { $0.contents == .pings(.deletionRequests) }?.fileIndexes.count ?? 0
        return GleanQueue(
            pingCount: files.count, byteCount: byteCount, deletionRequestCount: requests,
            sdkVersion: sdkVersion(of: directory, pendingFolderIndex: pendingFolderIndex, in: folder))
    }

    /// Returns the version of the SDK in the first ping that contains it, or `nil` if it is not found.
    ///
    /// Only the first ``maximumSearchedPingCount`` pings are read.
    private static func sdkVersion(of directory: GleanDirectory, pendingFolderIndex: Int, in folder: borrowing Folder)
        -> String?
    {
        var bytes: [UInt8] = []
        for index in directory.folders[pendingFolderIndex].fileIndexes.indices.prefix(maximumSearchedPingCount) {
            let name = directory.storeFile(
                at: GleanDirectory.FilePosition(folderIndex: pendingFolderIndex, fileIndex: index)
            ).name
            guard (try? folder.read(name, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil,
                let lines = try? PingLines(bytes), let document = try? JSONDocument(Array(bytes[lines.body])),
                let client = document.value(of: GleanKeys.clientInfo, in: document.root),
                let version = document.string(forKey: GleanKeys.sdkBuild, in: client)
            else { continue }
            return version
        }
        return nil
    }

    /// The maximum number of pings that are read to find the SDK version, which some pings do not contain.
    private static let maximumSearchedPingCount = 16
}
