import Files
import PropertyList
import Telemetry

/// A property list in which an older SDK stored requests.
struct LeanplumFileStore: SingleFileStore {
    enum Contents: Sendable {
        /// A file that contains only requests. `applicationID` is from the name of the file, and is `nil` if the name
        /// contains no id.
        case requests(applicationID: String?)
        /// The preferences of an app, which also contain requests.
        case preferences
    }

    let contents: Contents
    let location: FileLocation

    init(_ contents: Contents, name: String, in folder: borrowing InspectedFolder) {
        self.contents = contents
        location = FileLocation(name: name, in: folder)
    }

    var system: SystemName? { .leanplum }

    var kind: StoreKind {
        switch contents {
        case .requests: .leanplumPlist
        case .preferences: .leanplumUserDefaults
        }
    }

    var sizeLimit: FileSizeLimit { .usual }

    // The app and other SDKs can store credentials in the preferences. Leanplum itself stores none.
    var carriesCredentials: Bool { kind == .leanplumUserDefaults }

    func makeReader(in context: StoreContext) -> any FileReader {
        LeanplumFileReader(
            contents: contents, source: Source(capture: context.capture, path: path, store: kind, index: 0),
            secret: context.options.secret)
    }
}

extension StoreContext {
    /// Leanplum's id of the app, or the bundle id if no preferences in the container contain Leanplum's id.
    var leanplumApplicationID: String? {
        // A container can have many databases and preferences.
        let stored = neighbors.fact(named: "leanplum-application-id") {
            neighbors.lazy.compactMap { ($0 as? LeanplumFileStore)?.applicationIDInPreferences(tree) }.first
        }
        return stored ?? container.applicationID
    }
}

extension LeanplumFileStore {
    /// Returns Leanplum's id of the app, or `nil` if the file does not contain preferences with the id.
    fileprivate func applicationIDInPreferences(_ tree: FileTree) -> String? {
        guard case .preferences = contents else { return nil }
        var bytes: [UInt8] = []
        do throws(FileError) {
            try tree.folder(at: folderPath).read(location.name, limit: sizeLimit.bytes, into: &bytes)
        } catch {
            // The scan of the preferences reports the error.
            return nil
        }
        guard let document = try? PropertyListDocument(bytes), document.kind(of: document.root) == .dictionary else {
            return nil
        }
        return LeanplumDefaults(document).applicationID
    }
}

/// A reader that converts the contents of a property list to records.
private struct LeanplumFileReader: FileReader {
    let contents: LeanplumFileStore.Contents
    let source: Source
    let secret: RunSecret

    func read(_ bytes: [UInt8], file index: Int, into output: inout ScanOutput) {
        switch contents {
        case .requests(let applicationID):
            let requests = LeanplumRequests(from: source, applicationID: applicationID, secret: secret)
            LeanplumPropertyList.readRequests(bytes, adding: requests, into: &output)
        case .preferences:
            LeanplumPropertyList.readDefaults(bytes, from: source, secret: secret, into: &output)
        }
    }
}
