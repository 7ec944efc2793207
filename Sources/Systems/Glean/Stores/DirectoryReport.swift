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
        let contents = safeDatabaseContents(in: folder)
        let database = contents.flatMap { SafeDatabase($0) }
        let isDamaged = contents.map { SafeDatabase.fault(of: $0, isFromSDK: directory.hasPings) != nil } ?? false
        if let fact = databaseFact(in: folder, isDamaged: isDamaged) { report.facts.append(fact) }
        if let database { report.facts += facts(in: database) }
        if let database, let client = database.clientID {
            report.counters = database.nextNumbers.sorted { $0.key < $1.key }.compactMap { ping, next in
                guard next > 0 else { return nil }
                return .init(system: .glean, client: client, type: ping.string, lastNumber: next - 1)
            }
            let newest = report.counters.isEmpty ? [:] : newestNumbers(in: directory, ofClient: client, folder)
            report.facts += report.counters.compactMap { counter in
                newest[CapturedText(counter.type)].flatMap { counter.fact(newestNumber: $0) }
            }
        }
        if let pendingFolderIndex = directory.folders.firstIndex(where: { $0.contents == .pings(.pendingPings) }) {
            let part = directory.partIndex(
                of: GleanDirectory.FilePosition(folderIndex: pendingFolderIndex, fileIndex: 0))
            let queue = queue(of: directory, pendingFolderIndex: pendingFolderIndex, in: folder)
            report.parts = [StoreReport.Part(part: part, events: nil, queue: queue)]
        }
        return report
    }

    // MARK: Databases

    /// Returns a fact about the databases of which the app makes pings, or `nil` if there are none.
    ///
    /// If `isDamaged` is `true`, the discovery of the directory reports that ``SafeDatabase`` cannot be read.
    private static func databaseFact(in folder: borrowing Folder, isDamaged: Bool) -> String? {
        // The scan of the pings reports a folder that cannot be read.
        guard let entries = try? folder.folder(at: GleanStores.databasesFolderName).entries() else { return nil }
        let known = entries.map(\.text).filter {
            GleanStores.databaseFileNames.contains($0) && !(isDamaged && $0 == GleanStores.safeDatabaseName)
        }.sorted()
        guard !known.isEmpty else { return nil }
        return "database \(known.joined(separator: ", ")): the app makes pings of it, so no records are made"
    }

    /// Returns the contents of the file ``GleanStores/safeDatabaseName``, or `nil` if it is missing or too large.
    private static func safeDatabaseContents(in folder: borrowing Folder) -> [UInt8]? {
        var bytes: [UInt8] = []
        let name = Array("\(GleanStores.databasesFolderName)/\(GleanStores.safeDatabaseName)".utf8)
        guard (try? folder.read(name, limit: InputLimits.storeFileSize, into: &bytes)) != nil else { return nil }
        return bytes
    }

    /// Returns the highest sequence number of the pending pings of `client`, by ping name.
    ///
    /// The result is empty if there are more than ``GleanQueue/maximumSummedPingCount`` pings.
    private static func newestNumbers(in directory: GleanDirectory, ofClient client: String, _ folder: borrowing Folder)
        -> [CapturedText: Int64]
    {
        var newest: [CapturedText: Int64] = [:]
        guard let number = directory.folders.firstIndex(where: { $0.contents == .pings(.pendingPings) }),
            directory.folders[number].fileNames.count <= GleanQueue.maximumSummedPingCount
        else { return newest }
        var bytes: [UInt8] = []
        for index in directory.folders[number].fileNames.indices {
            let name = directory.folders[number].path(ofFile: index)
            // The scan of the pings reports files that cannot be read or parsed.
            guard (try? folder.read(name, limit: GleanPingReader.sizeLimit.bytes, into: &bytes)) != nil,
                let lines = try? PingLines(bytes), let path = GleanPath(bytes[lines.path].span),
                let document = try? JSONDocument(Array(bytes[lines.body])),
                let info = document.value(of: GleanKeys.clientInfo, .object, in: document.root),
                let owner = document.string(forKey: GleanKeys.clientID, in: info), ClientID(owner) == ClientID(client),
                let ping = document.value(of: GleanKeys.pingInfo, .object, in: document.root),
                let found = document.value(of: GleanKeys.sequenceNumber, .number, in: ping)
                    .flatMap({ Int64(decimal: document.bytes(of: $0)) })
            else { continue }
            let type = CapturedText(String(decoding: Array(bytes[lines.path])[path.ping], as: UTF8.self))
            newest[type] = max(newest[type] ?? found, found)
        }
        return newest
    }

    private static func facts(in database: SafeDatabase) -> [String] {
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
        // The SDK reads only files whose names are UUIDs, and deletes others, such as stray copies.
        let names = directory.folders[pendingFolderIndex].fileNames
        let files = names.indices.filter { index in
            let name = names[index]
            return GleanName.digits(ofUUID: name.span) != nil
        }
        var byteCount: Int?
        if files.count <= GleanQueue.maximumSummedPingCount {
            byteCount = 0
            for index in files {
                let name = directory.folders[pendingFolderIndex].path(ofFile: index)
                if let source = try? folder.source(name) { byteCount = (byteCount ?? 0) + source.count }
            }
        }
        let requests = directory.folders.first { $0.contents == .pings(.deletionRequests) }?.fileNames.count ?? 0
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
        for index in directory.folders[pendingFolderIndex].fileNames.indices.prefix(maximumSearchedPingCount) {
            let name = directory.folders[pendingFolderIndex].path(ofFile: index)
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

// MARK: - Rules of the queue

/// The state of the queue of pings, according to the rules of the SDK.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 5 and 11.3.
struct GleanQueue: QueueRules, Equatable {
    /// The number of pings in the queue, without deletion requests.
    let pingCount: Int
    /// The total size of the pings in bytes, or `nil` if there are more than ``maximumSummedPingCount`` pings.
    let byteCount: Int?
    let deletionRequestCount: Int
    /// The version of the SDK that built the pings, or `nil` if it is unknown.
    let sdkVersion: String?

    /// The major and minor version of the SDK, or `nil` if the version is unknown or malformed.
    ///
    /// They determine the limits of the SDK.
    private var parsedSDKVersion: (major: Int, minor: Int)? {
        let parts = (sdkVersion ?? "").split(separator: ".").prefix(2).map { Int($0) }
        guard parts.count == 2, let major = parts[0], let minor = parts[1] else { return nil }
        return (major, minor)
    }

    /// The limits above which the SDK deletes the oldest pings at the next start of the app.
    ///
    /// A limit is `nil` if the SDK has no such limit, or if its version is unknown.
    private var limits: (pingCount: Int?, byteCount: Int?) {
        guard let version = parsedSDKVersion else { return (nil, nil) }
        if version >= (67, 4) { return (500, 50_000_000) }
        if version >= (32, 4) { return (250, 10_000_000) }
        return version >= (32, 2) ? (nil, 10_000_000) : (nil, nil)
    }

    func sentence(at instant: Int64) -> String {
        var words = pingCount == 0 ? "no pings pending" : "ready for upload: \(pingCount.counted("ping"))"
        if let byteCount, pingCount > 0 { words += " of \(byteCount.counted("byte"))" }
        if deletionRequestCount > 0 {
            words += pingCount == 0 ? ", but " : ", after "
            words += deletionRequestCount.counted("deletion request")
        }
        guard let sdkVersion, parsedSDKVersion != nil else { return words }
        words += "; SDK \(sdkVersion)"
        if exceedsLimits {
            return words + " deletes the oldest at its next start, because it keeps no more than " + limitsInWords
        }
        return limits.byteCount == nil ? words + " keeps any number" : words + " keeps no more than " + limitsInWords
    }

    private var exceedsLimits: Bool {
        pingCount > limits.pingCount ?? .max || byteCount ?? 0 > limits.byteCount ?? .max
    }

    private var limitsInWords: String {
        let megabytes = "\((limits.byteCount ?? 0) / 1_000_000) MB"
        return limits.pingCount.map { "\($0) pings and \(megabytes)" } ?? megabytes
    }

    func json(at instant: Int64) -> CanonicalObject {
        [
            "bytes": byteCount, "deletionRequests": deletionRequestCount, "isOverFull": exceedsLimits,
            "limitBytes": limits.byteCount, "limitPings": limits.pingCount, "pings": pingCount, "sdk": sdkVersion,
        ]
    }

    func state(at instant: Int64) -> QueueState {
        if exceedsLimits {
            return QueueState(
                .ready, "over-full", "more than the SDK keeps; it deletes the oldest at its next start")
        }
        if pingCount > 0 { return QueueState(.ready, "pings", "pings are pending") }
        if deletionRequestCount > 0 {
            return QueueState(.ready, "deletion-requests", "only deletion requests are pending")
        }
        return QueueState(.empty, "empty", "nothing is pending")
    }

    /// The maximum number of pings whose sizes are added up.
    ///
    /// More pings exceed the ping limit of every SDK version that has such a limit, regardless of their sizes.
    static let maximumSummedPingCount = 500
}
