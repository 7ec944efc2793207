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

    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        if name == FirefoxAttribution.name { return .exclusive([FirefoxAttribution(path: folder.base + name)]) }
        guard let file = AdjustFile(rawValue: name) else { return .unrelated }
        let location = FileLocation(name: name, in: folder)
        return .exclusive([
            file == .queue ? AdjustQueueStore(location: location) : AdjustStateStore(file: file, location: location)
        ])
    }

    /// Recognizes a queue by an array that contains a package, regardless of the name of the file.
    ///
    /// Returns `nil` for any other file.
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? {
        // The file was opened before, so the only possible error is that it is too large.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: Self.sizeLimit.bytes),
            var archive = try? AdjustArchive(bytes), archive.holdsPackage
        else { return nil }
        return AdjustQueueStore(location: FileLocation(name: name, in: folder))
    }
}

/// A store that consists of one file of the SDK.
protocol AdjustStore: Store {
    /// The location of the file.
    var location: FileLocation { get }
}

// MARK: - Queue

/// The file that contains the queue.
private struct AdjustQueueStore: AdjustStore {
    let location: FileLocation
    let system: SystemName? = .adjust
    let kind = StoreKind.adjustQueue

    var path: String { location.path }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan { AdjustQueueScan(self, in: context) }
}

/// A scan that reads a queue package by package.
///
/// Only the hash of a damaged queue is put into quarantine, because packages contain credentials.
private struct AdjustQueueScan: StoreScan {
    private let context: StoreContext
    private let folderPath: String
    private let file: StoreFile
    private var buffer = StoreFileBuffer()
    private var hasStarted = false
    /// The reader of the queue, or `nil` if the queue is not open yet or cannot be read.
    private var reader: AdjustQueueReader?
    /// The files that apply to the queue.
    private var surroundings = AdjustContext()
    /// The keys of the packages in the queue that the SDK uses instead, or `nil` if there is no such readable queue.
    private var livePackages: Set<RecordKey>?
    private var isSuperseded = false
    /// The client of the previous package.
    private var lastClient: CapturedText?

    init(_ store: AdjustQueueStore, in context: StoreContext) {
        self.context = context
        folderPath = store.location.folderPath
        file = StoreFile(name: store.location.name, path: store.path, kind: store.kind, credentials: .always)
    }

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        output.path = file.path
        if !hasStarted { start(&output) }
        hasStarted = true
        while !output.isFull {
            guard var record = reader?.next() else {
                finish(&output)
                return false
            }
            let client = record.client.map { CapturedText($0) }
            if client != lastClient { surroundings.reportForgotten(record.client, &output) }
            lastClient = client
            if let livePackages {
                guard !livePackages.contains(RecordKey(record)) else {
                    output.omit(duplicate: record)
                    continue
                }
                isSuperseded = true
                record.held.append(AdjustHold.superseded)
            }
            output.add(record)
        }
        return true
    }

    private mutating func start(_ output: inout ScanOutput) {
        do throws(FileError) {
            let folder = try context.tree.folder(at: folderPath)
            guard buffer.read(file, limit: AdjustStores.sizeLimit, in: folder, context.options, into: &output) else {
                return
            }
        } catch {
            return output.report(Problem("unreadable", error.description), path: file.path)
        }
        let place = AdjustFolders(of: .queue, at: file.path)
        surroundings = AdjustContext(place, in: context, &output)
        if place.container != nil, surroundings.liveFolder != place.own {
            livePackages = packages(ofQueueAt: surroundings.liveFolder + AdjustFile.queue.rawValue)
        }
        do throws(PropertyListError) {
            let reader = try reader(of: buffer.contents, at: file.path)
            if let problem = reader.problem { output.report(problem) }
            self.reader = reader
        } catch {
            output.rejects.append(Reject("A1 \(error.code.rawValue) \(error.reason)", offset: error.offset))
        }
    }

    private func reader(
        of bytes: [UInt8], at path: String
    ) throws(PropertyListError) -> AdjustQueueReader {
        let source = Source(capture: context.capture, path: path, store: .adjustQueue, index: 0)
        return try AdjustQueueReader(bytes, source: source, context: surroundings)
    }

    /// Returns the keys of the packages in the queue at `path`, or `nil` if the queue is missing or cannot be read.
    private func packages(ofQueueAt path: String) -> Set<RecordKey>? {
        guard let bytes = context.contents(ofStoreAt: path),
            var reader = try? reader(of: bytes, at: path)
        else { return nil }
        var packages: Set<RecordKey> = []
        while let record = reader.next() { packages.insert(RecordKey(record)) }
        return packages
    }

    private mutating func finish(_ output: inout ScanOutput) {
        if let reject = reader?.reject { output.rejects.append(reject) }
        buffer.quarantineRejects(of: file, in: &output)
        guard var summary = reader?.summary else { return }
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

/// A file of the SDK that contains facts, but no records.
private struct AdjustStateStore: AdjustStore, SingleFileStore {
    let file: AdjustFile
    let location: FileLocation
    let system: SystemName? = .adjust
    let kind = StoreKind.adjustState
    let sizeLimit = AdjustStores.sizeLimit
    // The files contain ids and push tokens.
    let carriesCredentials = true

    func makeReader(in context: StoreContext) -> any FileReader {
        AdjustStateReader(file: file, path: path, context: context)
    }
}

/// A reader that reports the facts in a file of the SDK, without ids, tokens and names of campaigns.
private struct AdjustStateReader: FileReader {
    let file: AdjustFile
    let path: String
    let context: StoreContext

    func read(_ bytes: [UInt8], file index: Int, into output: inout ScanOutput) {
        do throws(PropertyListError) {
            output.report(StoreReport(facts: try facts(in: bytes)))
            if file == .activityState { reportForgotten(bytes, &output) }
        } catch {
            output.rejects.append(Reject("A21 \(error.code.rawValue) \(error.reason)", offset: error.offset))
        }
    }

    /// Reports the installation as forgotten if its state or the preferences of the app state so.
    private func reportForgotten(_ bytes: [UInt8], _ output: inout ScanOutput) {
        guard var archive = try? AdjustArchive(bytes), let client = (try? AdjustState(&archive))?.client else { return }
        let place = AdjustFolders(of: .activityState, at: path)
        // Damaged preferences are reported together with the queue, if there is one.
        let hasQueue = place.folders.contains { context.neighbors.store(at: $0 + AdjustFile.queue.rawValue) != nil }
        var unreported = ScanOutput(capture: context.capture)
        let surroundings =
            hasQueue ? AdjustContext(place, in: context, &unreported) : AdjustContext(place, in: context, &output)
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
private struct FirefoxAttribution: Store, StoreScan {
    static let name = "AdjustAttribution.json"

    let path: String
    let system: SystemName? = .adjust
    let kind = StoreKind.adjustState

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan { self }

    func read(into output: inout ScanOutput) -> Bool {
        output.report(StoreReport(facts: ["Firefox's own copy of the attribution, which is not read"]))
        return false
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
