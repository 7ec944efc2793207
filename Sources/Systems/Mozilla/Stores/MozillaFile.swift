import Files
import Telemetry

/// A store of Mozilla's SDK that consists of one file.
struct MozillaFile: SingleFileStore {
    /// The format of the file.
    enum Contents: Sendable {
        /// An array of pings (format S1).
        case pingArray(type: String)
        /// Measurements by date (format S0, which is the oldest format).
        case datedMeasurements
        /// Events that are not yet included in a ping (format PE).
        case pendingEvents(type: String)
        /// Counters and events (format V1).
        case values
        /// Preferences of an app that contain counters and events, under keys with or without a prefix (formats V3 and
        /// V2).
        case preferences(hasPrefix: Bool)
        /// Preferences that contain no values of the SDK, but the setting for usage data or events of app extensions.
        case groupPreferences
    }

    /// The key of app extension events in the preferences of an app group.
    static let groupEventsKey = "profile.AppExtensionTelemetryEvents"

    let contents: Contents
    let location: FileLocation

    init(_ contents: Contents, named name: String, in folder: borrowing InspectedFolder) {
        self.contents = contents
        location = FileLocation(name: name, in: folder)
    }

    var system: SystemName? { .mozilla }
    var kind: StoreKind { contents.kind }
    var sizeLimit: FileSizeLimit { .usual }

    /// Whether the file can contain credentials, as preferences of apps and app groups can.
    var carriesCredentials: Bool {
        switch contents {
        case .preferences, .groupPreferences: true
        case .pingArray, .datedMeasurements, .pendingEvents, .values: false
        }
    }

    func makeReader(in context: StoreContext) -> any FileReader { MozillaFileReader(self, in: context) }

    func origin(in context: StoreContext) -> MozillaStoreOrigin {
        MozillaStoreOrigin(
            capture: context.capture, path: path, store: contents.kind, pingTypeFromName: contents.pingTypeFromName,
            applicationID: context.container.applicationID)
    }

    /// Reads the file, unless it exceeds the size limit of store files.
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

    /// The ping type in the name of the file, or an empty string if the name contains none.
    fileprivate var pingTypeFromName: String {
        switch self {
        case .pingArray(let type), .pendingEvents(let type): type
        case .datedMeasurements, .values, .preferences, .groupPreferences: ""
        }
    }
}
