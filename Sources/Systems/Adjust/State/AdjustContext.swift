import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// The contents of the files of the SDK that determine how the packages of a queue are sent.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
package struct AdjustContext {
    /// The state of the SDK, or `nil` if it is unknown.
    private(set) var state: AdjustState?
    /// Whether the preferences of the app state that the user asked Adjust to forget the device.
    private(set) var asksToForget = false
    /// The session's parameters for callbacks, with `nil` for each value that is not a string.
    private(set) var callbackParameters: [String: String?] = [:]
    /// The session's parameters for partners, with `nil` for each value that is not a string.
    private(set) var partnerParameters: [String: String?] = [:]

    /// Creates the context of a queue without any other files.
    package init() {}

    /// Reads the files that apply to the queue at `place`.
    ///
    /// If there are several files of a kind, the first readable one applies. Damaged files are reported when their
    /// stores are scanned.
    init(_ place: AdjustFolders, in context: StoreContext, _ output: inout ScanOutput) {
        func first<Contents>(
            _ file: AdjustFile, _ read: (inout AdjustArchive) throws(PropertyListError) -> Contents
        ) -> Contents? {
            for folder in place.folders {
                guard let bytes = context.contents(ofStoreAt: folder + file.rawValue) else { continue }
                if var archive = try? AdjustArchive(bytes), let contents = try? read(&archive) { return contents }
            }
            return nil
        }
        let strings = { (archive: inout AdjustArchive) throws(PropertyListError) in try archive.rootStrings() }
        state = first(.activityState) { archive throws(PropertyListError) in try AdjustState(&archive) }
        callbackParameters = first(.callbackParameters, strings) ?? [:]
        partnerParameters = first(.partnerParameters, strings) ?? [:]
        guard let container = place.container else { return }
        asksToForget = AdjustPreferences.asksToForget(container, in: context, &output)
        if asksToForget {
            state = state ?? AdjustState()
            state?.isForgotten = true
        }
    }
}

extension StoreContext {
    /// Returns the contents of the SDK file at `path` in the same container, or `nil` if the file cannot be read.
    func contents(ofStoreAt path: String) -> [UInt8]? {
        neighbors.first { $0.path == path }.flatMap { $0 as? any AdjustStore }.flatMap { contents(of: $0.location) }
    }

    private func contents(of location: FileLocation) -> [UInt8]? {
        var bytes: [UInt8] = []
        do throws(FileError) {
            let folder = try tree.folder(at: location.folderPath)
            try folder.read(location.name, limit: AdjustStores.sizeLimit.bytes, into: &bytes)
            return bytes
        } catch {
            return nil
        }
    }
}
