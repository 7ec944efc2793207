import Telemetry

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

/// The folders that are relevant to a queue, derived from the path of the queue.
struct AdjustFolders {
    /// The folders whose files apply to the queue, in the order in which the SDK reads them.
    let folders: [String]
    /// The prefix of paths in the container, or `nil` if the queue is in no folder of the SDK.
    let container: String?
    /// The path of the newer copy of the queue, or `nil` if the queue is not in the older folder.
    let newerQueue: String?

    init(ofQueueAt path: String) {
        func container(_ folder: String) -> String? {
            guard path.hasSuffix(folder + AdjustFile.queue.rawValue) else { return nil }
            let container = path.dropLast(folder.count + AdjustFile.queue.rawValue.count)
            return container.isEmpty || container.hasSuffix("/") || container.hasSuffix("!") ? String(container) : nil
        }
        let older = container(AdjustFile.olderFolder)
        self.container = container(AdjustFile.newerFolder) ?? older
        folders =
            self.container.map { [$0 + AdjustFile.newerFolder, $0 + AdjustFile.olderFolder] }
            ?? [String(path.dropLast(AdjustFile.queue.rawValue.count))]
        newerQueue = older.map { $0 + AdjustFile.newerFolder + AdjustFile.queue.rawValue }
    }
}
