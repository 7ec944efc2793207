import Telemetry

/// A property list in which an older SDK stored requests.
struct LeanplumFileStore: SingleFileStore {
    enum Contents: Sendable {
        /// A file that contains only requests. The application id is from its name.
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
