import Files
import PropertyList
import Telemetry

/// The format of the SDK's files, which are recognized by name in any folder.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 1.
enum AdjustStores {
    static let format = StoreFormat(
        kinds: [.adjustQueue, .adjustState],
        mayBelongToStore: { file in
            AdjustFile(rawValue: file.name) != nil || file.name == FirefoxAttribution.name
                || AdjustPreferences.isNamed(file.name)
        },
        isNamedForStore: { name, _ in AdjustFile(rawValue: name) != nil },
        // No folder as a whole is a store, because a folder of the SDK can also contain files of the app.
        storeOfFolder: nil, storesOfFile: stores(ofFile:in:),
        storesOfSingleFile: { name, _, folder in Self.stores(ofFile: name, in: &folder) },
        storeByContents: store(byContentsOf:in:),
        backups: .ofAllApps("queues of Adjust are in no backup: the SDK excludes them since 2.1.1"),
        secrets: StoredSecrets(
            classNames: AdjustArchive.ClassName.allCases.map(\.text),
            keys: AdjustParameters.credentials.map(\.description) + AdjustState.secretKeys),
        usageData: nil)

    /// The maximum size of a file, which is larger than usual because nothing limits the length of a queue.
    static let sizeLimit = FileSizeLimit(bytes: StoreLimits.archive, code: FileSizeLimit.usual.code)

    private static func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
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
    private static func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? {
        // The file was opened before, so the only possible error is that it is too large.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: sizeLimit.bytes),
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

/// A file of the SDK that contains facts, but no records.
struct AdjustStateStore: AdjustStore, SingleFileStore {
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
struct FirefoxAttribution: Store, StoreScan {
    static let name = "AdjustAttribution.json"

    let path: String
    let system: SystemName? = .adjust
    let kind = StoreKind.adjustState
    let fileCount = 1
    let isReadByOneJob = false

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan { self }

    func read(into output: inout ScanOutput) -> Bool {
        output.report(StoreReport(facts: ["Firefox's own copy of the attribution, which is not read"]))
        return false
    }
}
