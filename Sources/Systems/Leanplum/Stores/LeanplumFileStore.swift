import Telemetry

/// A property list in which an older SDK keeps requests.
struct LeanplumFileStore: SingleFileStore {
    /// The contents of the file.
    enum Contents: Sendable {
        /// Requests alone; the name of the file may tell the application id.
        case requests(applicationID: String?)
        /// Preferences of an app, requests among them.
        case preferences
    }

    let contents: Contents
    let location: FileLocation

    /// Creates a store.
    /// - Parameter name: The name of the file in the folder.
    init(_ contents: Contents, name: String, in folder: borrowing FolderLook) {
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

    /// Leanplum itself stores no keys, but the app and its other SDKs may keep some among the preferences.
    var carriesCredentials: Bool {
        switch contents {
        case .requests: false
        case .preferences: true
        }
    }

    func makeReader(in context: StoreContext) -> any FileReader {
        LeanplumFileReader(
            contents: contents, source: Source(capture: context.capture, path: path, store: kind, index: 0),
            secret: context.options.secret)
    }
}

/// Turns the bytes of such a property list into records.
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
