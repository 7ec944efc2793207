import Files
import Telemetry

/// A store of Mozilla's SDK that is one file.
struct MozillaFile: SingleFileStore {
    enum Contents: Sendable {
        /// Pings in one array (S1).
        case pingArray(type: String)
        /// Measurements by date, the oldest form (S0).
        case datedMeasurements
        /// Events that are in no ping yet (PE).
        case pendingEvents(type: String)
        /// Counters and events in a file of their own (V1).
        case values
        /// Preferences of an app with counters and events among them (V2, V3); `hasPrefix` where other keys stand beside
        /// them.
        case preferences(hasPrefix: Bool)
        /// Preferences of an app group, where events of extensions wait for a ping.
        case groupPreferences
    }

    /// The key of the events in the preferences of an app group.
    static let groupEventsKey = "profile.AppExtensionTelemetryEvents"

    let contents: Contents
    let location: FileLocation

    init(_ contents: Contents, named name: String, in folder: borrowing FolderLook) {
        self.contents = contents
        location = FileLocation(name: name, in: folder)
    }

    var system: SystemName? { .mozilla }
    var kind: StoreKind { contents.kind }
    var sizeLimit: FileSizeLimit { .usual }

    /// Preferences hold whatever an app keeps there.
    var carriesCredentials: Bool {
        switch contents {
        case .preferences, .groupPreferences: true
        case .pingArray, .datedMeasurements, .pendingEvents, .values: false
        }
    }

    func makeReader(in context: StoreContext) -> any FileReader { MozillaFileReader(self, in: context) }

    func place(in context: StoreContext) -> MozillaPlace {
        MozillaPlace(
            capture: context.capture, path: path, store: contents.kind, namedType: contents.namedType,
            applicationID: context.container.applicationID)
    }

    /// Reads the bytes of the file, up to the limit of store files.
    func read(in context: StoreContext, into bytes: inout [UInt8]) throws(FileError) {
        try context.tree.folder(at: folderPath).read(location.name, limit: StoreLimits.file, into: &bytes)
    }
}

extension MozillaFile.Contents {
    fileprivate var kind: StoreKind {
        switch self {
        case .pingArray, .datedMeasurements: .mozillaPingArray
        case .pendingEvents: .mozillaPendingEvents
        case .values: .mozillaValues
        case .preferences, .groupPreferences: .mozillaDefaults
        }
    }

    /// The ping type that the file is named for; empty if its name does not tell one.
    fileprivate var namedType: String {
        switch self {
        case .pingArray(let type), .pendingEvents(let type): type
        case .datedMeasurements, .values, .preferences, .groupPreferences: ""
        }
    }
}
