import Telemetry

/// A property list with requests of an older SDK.
struct LeanplumFileStore: SingleFileStore {
    enum Contents: Sendable {
        /// Only requests, with the application id if the name of the file contains it.
        case requests(applicationID: String?)
        /// The preferences of an app, which include requests.
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

    // Leanplum stores no credentials, but the app and other SDKs can store some in the preferences.
    var carriesCredentials: Bool { kind == .leanplumUserDefaults }

    func makeReader(in context: StoreContext) -> any FileReader {
        LeanplumFileReader(
            contents: contents, source: Source(capture: context.capture, path: path, store: kind, index: 0),
            secret: context.options.secret)
    }
}

/// Converts the bytes of a property list to records.
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
