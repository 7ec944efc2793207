import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// The files of the SDK that determine how the packages of a queue are sent.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
package struct AdjustContext {
    /// The state of the SDK, or `nil` if it is unknown.
    private(set) var state: AdjustState?
    /// The session's parameters for callbacks, in which a value that is no string is `nil`.
    private(set) var callbackParameters: [String: String?] = [:]
    /// The session's parameters for partners, in which a value that is no string is `nil`.
    private(set) var partnerParameters: [String: String?] = [:]

    /// Creates the context of a queue without other files.
    package init() {}

    /// Reads the files that apply to the queue at `place`.
    ///
    /// Of each kind, the first one that can be read counts. Damaged files are reported when their stores are scanned.
    init(_ place: AdjustPlace, in context: StoreContext, _ output: inout ScanOutput) {
        func first<Contents>(
            _ file: AdjustFile, _ read: (inout AdjustArchive) throws(PropertyListError) -> Contents
        ) -> Contents? {
            for folder in place.folders {
                guard let bytes = context.contents(ofStoreAt: folder + file.rawValue) else { continue }
                if var archive = try? AdjustArchive(bytes), let contents = try? read(&archive) { return contents }
            }
            return nil
        }
        state = first(.activityState) { archive throws(PropertyListError) in try AdjustState(&archive) }
        callbackParameters = first(.callbackParameters, AdjustArchive.readStrings) ?? [:]
        partnerParameters = first(.partnerParameters, AdjustArchive.readStrings) ?? [:]
        if let container = place.container, AdjustPreferences.asksToForget(container, in: context, &output) {
            state = state ?? AdjustState()
            state?.isForgotten = true
        }
    }
}

extension AdjustArchive {
    static func readStrings(_ archive: inout AdjustArchive) throws(PropertyListError) -> [String: String?] {
        try archive.rootStrings()
    }
}

extension StoreContext {
    /// Returns the contents of a store of the SDK in the same container, or `nil` if it is missing or cannot be read.
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
