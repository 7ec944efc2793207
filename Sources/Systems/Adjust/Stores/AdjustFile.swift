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
