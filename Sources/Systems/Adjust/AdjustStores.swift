import Bytes
import PropertyList
import Telemetry

/// The format of the SDK's files, which are recognized by name in any folder.
///
/// No folder as a whole is a store, because a folder of the SDK can also contain files of the app.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 1.
struct AdjustStores: StoreFormat {
    let kinds: [StoreKind] = [.adjustQueue, .adjustState]
    let absenceFromBackups: String? = "queues of Adjust are in no backup: the SDK excludes them since 2.1.1"
    let secretClassNames = AdjustArchive.classNames.flatMap(\.self)
    let secretKeys = AdjustParameters.credentials.map(\.description) + AdjustState.secretKeys

    func mayBelongToStore(_ file: MemberName) -> Bool {
        AdjustFile(rawValue: file.name) != nil || file.name == FirefoxAttribution.name
            || AdjustContext.isPreferences(file.name)
    }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { AdjustFile(rawValue: name) != nil }

    func namePrefixes(in store: (any Store)?) -> [String] { AdjustFile.allCases.map { $0.rawValue.lowercased() } }

    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        if name == FirefoxAttribution.name { return .exclusive([FirefoxAttribution(path: folder.base + name)]) }
        guard let file = AdjustFile(rawValue: name) else { return .unrelated }
        return .exclusive([AdjustStore(file: file, location: FileLocation(name: name, in: folder))])
    }

    /// Recognizes a queue by an array that contains a package, regardless of the name of the file.
    ///
    /// Returns `nil` for any other file.
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? {
        // The file was opened before, so the only possible error is that it is too large.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: FileSizeLimit.keyedArchive.bytes),
            var archive = try? AdjustArchive(bytes), archive.holdsPackage()
        else { return nil }
        return AdjustStore(file: .queue, location: FileLocation(name: name, in: folder))
    }
}

/// A store that consists of one file of the SDK.
struct AdjustStore: FileStore {
    let file: AdjustFile
    let location: FileLocation
    let system: SystemName? = .adjust
    // Packages contain credentials, and the other files ids and push tokens.
    let credentials = StoreFile.Credentials.always
    let sizeLimit = FileSizeLimit.keyedArchive

    var kind: StoreKind { file == .queue ? .adjustQueue : .adjustState }

    func makeReader(in context: StoreContext) -> any StoreReader {
        file == .queue ? AdjustQueueStoreReader(in: context) : AdjustStateReader(file: file, context: context)
    }
}

// MARK: - Queue

/// A reader that adds the records of a queue package by package.
private struct AdjustQueueStoreReader: StoreReader {
    private let context: StoreContext
    /// The reader of the packages, or `nil` if the queue is not open yet.
    private var packages: AdjustQueueReader?
    /// The keys of the packages in the queue that the SDK uses instead, or `nil` if there is no such readable queue.
    private var livePackages: Set<RecordKey>?
    /// The client of the previous package.
    private var lastClient: CapturedText?

    init(in context: StoreContext) { self.context = context }

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        if packages == nil {
            do throws(PropertyListError) {
                try open(bytes, source, &output)
            } catch {
                try output.reject(Reject("A1 \(error.code.rawValue) \(error.reason)", offset: error.offset))
                return false
            }
        }
        guard let record = packages?.next() else {
            try finish(&output)
            return false
        }
        try add(record, &output)
        return true
    }

    private mutating func open(
        _ bytes: [UInt8], _ source: Source, _ output: inout ScanOutput
    ) throws(PropertyListError) {
        let place = AdjustFolders(of: .queue, at: source.path)
        let surroundings = AdjustContext(place, in: context)
        for problem in surroundings.problems { output.report(problem) }
        if surroundings.liveFolder != place.own {
            let queue = context.adjustQueue(in: surroundings.liveFolder, surroundings)
            livePackages = queue.map { Set($0.map { RecordKey($0) }) }
        }
        let packages = try AdjustQueueReader(bytes, source: source, context: surroundings)
        if let problem = packages.problem { output.report(problem) }
        self.packages = packages
    }

    private mutating func add(_ record: consuming Record, _ output: inout ScanOutput) throws {
        let client = record.client.map { CapturedText($0) }
        if client != lastClient { packages?.context.reportForgotten(record.client, &output) }
        lastClient = client
        if let livePackages {
            guard !livePackages.contains(RecordKey(record)) else { return output.omit(duplicate: record) }
            packages?.summary.isSuperseded = true
            record.held.append(Hold("superseded"))
        }
        try output.add(record)
    }

    private mutating func finish(_ output: inout ScanOutput) throws {
        guard let packages = packages.take() else { return }
        if let reject = packages.reject { try output.reject(reject) }
        output.report(
            StoreReport(
                facts: packages.context.requestToForget == nil
                    ? [] : ["the preferences state that the user asked Adjust to forget the device"],
                parts: [StoreReport.Part(part: 0, events: nil, queue: packages.summary)],
                newest: packages.summary.newest?.milliseconds ?? 0))
    }
}

// MARK: - State

/// A reader that reports the facts in a file of the SDK, without ids, tokens and names of campaigns.
private struct AdjustStateReader: StoreReader {
    let file: AdjustFile
    let context: StoreContext

    func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        do throws(PropertyListError) {
            var archive = try AdjustArchive(bytes)
            output.report(StoreReport(facts: try facts(in: &archive, at: source.path, &output)))
        } catch {
            try output.reject(Reject("A21 \(error.code.rawValue) \(error.reason)", offset: error.offset))
        }
        return false
    }

    private func facts(
        in archive: inout AdjustArchive, at path: String, _ output: inout ScanOutput
    ) throws(PropertyListError) -> [String] {
        switch file {
        case .activityState:
            let state = try AdjustState(archive)
            if let client = state.client { reportForgotten(client, at: path, &output) }
            return state.facts
        case .attribution:
            try archive.root(named: .attribution)
            return ["an attribution is stored"]
        case .callbackParameters: return ["parameters of the session for callbacks: \(try archive.rootStrings().count)"]
        case .partnerParameters: return ["parameters of the session for partners: \(try archive.rootStrings().count)"]
        case .eventMetadata: try archive.root(named: .eventMetadata)
        case .queue: break
        }
        return []
    }

    /// Reports the installation as forgotten if its state or the preferences of the app state so.
    private func reportForgotten(_ client: String, at path: String, _ output: inout ScanOutput) {
        let place = AdjustFolders(of: .activityState, at: path)
        let surroundings = AdjustContext(place, in: context)
        // Damaged preferences are reported together with the queue, if there is one.
        if !place.folders.contains(where: { context.neighbors.store(at: $0 + AdjustFile.queue.rawValue) != nil }) {
            for problem in surroundings.problems { output.report(problem) }
        }
        surroundings.reportForgotten(client, &output)
    }
}

/// The file with Firefox's own copy of the attribution, which is listed but never opened.
private struct FirefoxAttribution: Store {
    static let name = "AdjustAttribution.json"

    let path: String
    let system: SystemName? = .adjust
    let kind = StoreKind.adjustState

    func report(in context: StoreContext) -> StoreReport? {
        StoreReport(facts: ["Firefox's own copy of the attribution, which is not read"])
    }
}

// MARK: - Files

/// A file of the SDK, which has the same name in all versions.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 1.
enum AdjustFile: String, CaseIterable {
    case queue = "AdjustIoPackageQueue"
    case activityState = "AdjustIoActivityState"
    case attribution = "AdjustIoAttribution"
    case callbackParameters = "AdjustSessionCallbackParameters"
    case partnerParameters = "AdjustSessionPartnerParameters"
    case eventMetadata = "AdjustEventMetadata"

    /// The folder of the files since version 4.12 of the SDK, and the folder until version 4.11.5, relative to the
    /// container.
    static let folders = ["Library/Application Support/Adjust/", "Documents/"]
}

/// The folders that are relevant to a file of the SDK, derived from the path of the file.
struct AdjustFolders {
    /// The folder that contains the file.
    let own: String
    /// The folders whose files apply to the file, in the order in which version 4.12 of the SDK reads them.
    let folders: [String]
    /// The prefix of paths in the container, or `nil` if the file is in no folder of the SDK.
    let container: String?

    init(of file: AdjustFile, at path: String) {
        let own = String(path.dropLast(file.rawValue.count))
        let known = AdjustFile.folders.filter { path.hasSuffix($0 + file.rawValue) }.map { own.dropLast($0.count) }
        container = known.first { $0.isEmpty || $0.hasSuffix("/") || $0.hasSuffix("!") }.map { String($0) }
        folders = container.map { container in AdjustFile.folders.map { container + $0 } } ?? [own]
        self.own = own
    }
}
