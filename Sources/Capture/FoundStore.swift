import Files
import Telemetry

/// A store that a walk over a capture came upon.
public struct FoundStore: Sendable {
    /// Path below the root of the capture; a folder's without a slash at its end.
    public let path: String
    /// What it is and what has to be read.
    public let contents: Contents
    /// The container that it belongs to.
    public let container: Container

    /// What a store consists of.
    public enum Contents: Sendable {
        /// A folder with a ping in each file.
        case pingFolder(PingFolder)
        /// Pings in one array.
        case pingArray(type: String)
        /// Measurements by date, the oldest form.
        case datedMeasurements
        /// Events in no ping yet.
        case pendingEvents(type: String)
        /// Counters in a file of their own.
        case values
        /// Preferences of an app with counters among them; `hasPrefix` where other keys stand beside them.
        case preferences(hasPrefix: Bool)
        /// Preferences of an app group, whose events of extensions wait for a ping.
        case groupPreferences
    }

    /// How records name the kind of store.
    public var kind: StoreKind {
        switch contents {
        case .pingFolder: .mozillaPingFile
        case .pingArray, .datedMeasurements: .mozillaPingArray
        case .pendingEvents: .mozillaPendingEvents
        case .values: .mozillaValues
        case .preferences, .groupPreferences: .mozillaDefaults
        }
    }

    /// Files of this kind can hold credentials; in quarantine only their hash is listed.
    var carriesCredentials: Bool {
        switch contents {
        case .preferences, .groupPreferences: true
        default: false
        }
    }

    /// How many files there are to read.
    public var fileCount: Int {
        if case .pingFolder(let folder) = contents { folder.files.count } else { 1 }
    }
}

/// The files of a ping folder, in the order in which their pings come out.
public struct PingFolder: Sendable {
    /// Path of the folder below the root of the capture.
    public let path: String
    /// The ping type that the folder is named for.
    public let type: String
    /// By the time in the name, else of the envelope; ties by name.
    public let files: [PingFile]
}

/// A file of a ping folder.
public struct PingFile: Sendable {
    /// The name in its folder.
    public let name: [UInt8]
    /// What orders it: nil where neither name nor envelope tells.
    public let time: DecimalTime?
}

/// The container of an app or an app group: the folder in which its `Documents` and `Library` lie.
public struct Container: Sendable, Hashable {
    /// Path below the root of the capture; empty for the root itself.
    public let path: String
    /// Bundle id of the app, or identifier of the group, where the capture tells it.
    public let identifier: String?

    /// Whether the container is that of an app group.
    public var isGroup: Bool { identifier?.hasPrefix("group.") ?? false }

    /// The bundle id of an app's own container.
    var applicationID: String? { isGroup ? nil : identifier }
}
