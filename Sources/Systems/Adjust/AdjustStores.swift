import Bytes
import Files
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
    let secretClassNames = AdjustArchive.ClassName.allCases.map(\.text)
    let secretKeys = AdjustParameters.credentials.map(\.description) + AdjustState.secretKeys

    /// The maximum size of a file, which is larger than usual because nothing limits the length of a queue.
    static let sizeLimit = FileSizeLimit(bytes: InputLimits.keyedArchiveSize, code: FileSizeLimit.usual.code)

    func mayBelongToStore(_ file: MemberName) -> Bool {
        AdjustFile(rawValue: file.name) != nil || file.name == FirefoxAttribution.name
            || AdjustPreferences.isNamed(file.name)
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
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: Self.sizeLimit.bytes),
            var archive = try? AdjustArchive(bytes), archive.holdsPackage
        else { return nil }
        return AdjustStore(file: .queue, location: FileLocation(name: name, in: folder))
    }
}

/// A store that consists of one file of the SDK.
struct AdjustStore: Store {
    let file: AdjustFile
    /// The location of the file.
    let location: FileLocation
    let system: SystemName? = .adjust

    var path: String { location.path }
    var folderPath: String { location.folderPath }
    var kind: StoreKind { file == .queue ? .adjustQueue : .adjustState }

    func file(at index: Int) -> StoreFile? {
        // Packages contain credentials, and the other files ids and push tokens.
        StoreFile(location, kind: kind, credentials: .always, sizeLimit: AdjustStores.sizeLimit)
    }

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
    /// The files that apply to the queue.
    private var surroundings = AdjustContext()
    /// The keys of the packages in the queue that the SDK uses instead, or `nil` if there is no such readable queue.
    private var livePackages: Set<RecordKey>?
    private var isSuperseded = false
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
        surroundings = AdjustContext(place, in: context) { output.report($0, path: $1) }
        if place.container != nil, surroundings.liveFolder != place.own {
            livePackages = keys(ofQueueAt: surroundings.liveFolder + AdjustFile.queue.rawValue)
        }
        let packages = try AdjustQueueReader(bytes, source: source, context: surroundings)
        if let problem = packages.problem { output.report(problem) }
        self.packages = packages
    }

    /// Returns the keys of the packages in the queue at `path`, or `nil` if the queue is missing or cannot be read.
    private func keys(ofQueueAt path: String) -> Set<RecordKey>? {
        let source = Source(capture: context.capture, path: path, store: .adjustQueue, index: 0)
        guard let bytes = context.contents(ofStoreAt: path),
            var packages = try? AdjustQueueReader(bytes, source: source, context: surroundings)
        else { return nil }
        var keys: Set<RecordKey> = []
        while let record = packages.next() { keys.insert(RecordKey(record)) }
        return keys
    }

    private mutating func add(_ record: consuming Record, _ output: inout ScanOutput) throws {
        let client = record.client.map { CapturedText($0) }
        if client != lastClient { surroundings.reportForgotten(record.client, &output) }
        lastClient = client
        if let livePackages {
            guard !livePackages.contains(RecordKey(record)) else { return output.omit(duplicate: record) }
            isSuperseded = true
            record.held.append(AdjustHold.superseded)
        }
        try output.add(record)
    }

    private mutating func finish(_ output: inout ScanOutput) throws {
        guard let packages = packages.take() else { return }
        if let reject = packages.reject { try output.reject(reject) }
        var summary = packages.summary
        summary.isSuperseded = isSuperseded
        output.report(
            StoreReport(
                facts: surroundings.requestToForget == nil
                    ? [] : ["the preferences state that the user asked Adjust to forget the device"],
                parts: [StoreReport.Part(part: 0, events: nil, queue: summary)],
                newest: summary.newest?.milliseconds ?? 0))
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
            output.report(StoreReport(facts: try facts(in: bytes)))
            if file == .activityState { reportForgotten(bytes, at: source.path, &output) }
        } catch {
            try output.reject(Reject("A21 \(error.code.rawValue) \(error.reason)", offset: error.offset))
        }
        return false
    }

    /// Reports the installation as forgotten if its state or the preferences of the app state so.
    private func reportForgotten(_ bytes: [UInt8], at path: String, _ output: inout ScanOutput) {
        guard var archive = try? AdjustArchive(bytes), let client = (try? AdjustState(&archive))?.client else { return }
        let place = AdjustFolders(of: .activityState, at: path)
        // Damaged preferences are reported together with the queue, if there is one.
        let hasQueue = place.folders.contains { context.neighbors.store(at: $0 + AdjustFile.queue.rawValue) != nil }
        let surroundings = AdjustContext(place, in: context) { if !hasQueue { output.report($0, path: $1) } }
        surroundings.reportForgotten(client, &output)
    }

    private func facts(in bytes: [UInt8]) throws(PropertyListError) -> [String] {
        var archive = try AdjustArchive(bytes)
        switch file {
        case .activityState: return try AdjustState(&archive).facts
        case .attribution:
            _ = try archive.root(named: [.attribution])
            return ["an attribution is stored"]
        case .callbackParameters: return ["parameters of the session for callbacks: \(try archive.rootStrings().count)"]
        case .partnerParameters: return ["parameters of the session for partners: \(try archive.rootStrings().count)"]
        case .eventMetadata:
            _ = try archive.root(named: [.eventMetadata])
            return []
        case .queue: return []
        }
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

    /// The folder of the files since version 4.12 of the SDK, relative to the container.
    static let newerFolder = "Library/Application Support/Adjust/"
    /// The folder of the files until version 4.11.5 of the SDK, relative to the container.
    static let olderFolder = "Documents/"
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
        func container(_ folder: String) -> String? {
            guard path.hasSuffix(folder + file.rawValue) else { return nil }
            let container = path.dropLast(folder.count + file.rawValue.count)
            return container.isEmpty || container.hasSuffix("/") || container.hasSuffix("!") ? String(container) : nil
        }
        own = String(path.dropLast(file.rawValue.count))
        self.container = container(AdjustFile.newerFolder) ?? container(AdjustFile.olderFolder)
        folders = self.container.map { [$0 + AdjustFile.newerFolder, $0 + AdjustFile.olderFolder] } ?? [own]
    }
}
