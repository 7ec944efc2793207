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
    /// What its path begins with if it lies in an archive in the capture: `outer.zip!`; else nothing.
    let archivePrefix: String

    /// What a store consists of.
    public enum Contents: Sendable {
        /// A folder with a ping in each file.
        indirect case pingFolder(PingFolder)
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
        /// Leanplum requests in a database.
        case leanplumDatabase
        /// Leanplum requests in a property list; its name may tell the application id.
        case leanplumRequests(applicationID: String?)
        /// Preferences of an app with Leanplum's among them.
        case leanplumPreferences
        /// Captured requests or their payloads.
        case requestLog(RequestLogKind)
        /// The folder of Sift's SDK, read as one.
        indirect case sift(SiftFolder)
    }

    /// A part of a store that reports list by itself.
    public struct Part: Sendable, Equatable {
        /// How records name the kind of store.
        public let kind: StoreKind
        /// Path below the root of the capture.
        public let path: String
    }

    /// What reports list the store as: mostly itself.
    public var parts: [Part] {
        if case .sift(let folder) = contents { folder.parts } else { [Part(kind: kind, path: path)] }
    }

    /// How records name the kind of store; of one with several parts, that of the first.
    public var kind: StoreKind {
        switch contents {
        case .pingFolder: .mozillaPingFile
        case .pingArray, .datedMeasurements: .mozillaPingArray
        case .pendingEvents: .mozillaPendingEvents
        case .values: .mozillaValues
        case .preferences, .groupPreferences: .mozillaDefaults
        case .leanplumDatabase: .leanplumSQLite
        case .leanplumRequests: .leanplumPlist
        case .leanplumPreferences: .leanplumUserDefaults
        case .requestLog(let kind): kind.store
        case .sift(let folder): folder.parts[0].kind
        }
    }

    /// The system whose store it is.
    public var system: TelemetrySystem {
        switch contents {
        case .leanplumDatabase, .leanplumRequests, .leanplumPreferences: .leanplum
        case .sift: .sift
        default: .mozilla
        }
    }

    /// A file of this kind can hold credentials; in quarantine only its hash is listed.
    func carriesCredentials(file index: Int) -> Bool {
        switch contents {
        case .preferences, .groupPreferences, .leanplumPreferences, .requestLog: true
        case .sift(let folder): folder.files[index].file.carriesCredentials
        default: false
        }
    }

    /// How many files there are to read.
    public var fileCount: Int {
        switch contents {
        case .pingFolder(let folder): folder.count
        case .sift(let folder): folder.files.count
        default: 1
        }
    }
}

/// The files of a ping folder, in the order in which their pings come out.
public struct PingFolder: Sendable {
    /// Path of the folder in the capture.
    public let path: String
    /// What the paths of the files begin with.
    let base: String
    /// The ping type that the folder is named for.
    public let type: String
    /// The entries of the folder, the files among them.
    private let entries: FolderEntries
    /// The files by their places there, in order.
    private var files: [UInt32] = []
    /// The files that are still to be put in order.
    private var unsorted: [Unsorted] = []

    private struct Unsorted {
        /// What orders it: nil where neither name nor envelope tells.
        let time: DecimalTime?
        let entry: UInt32
    }

    init(path: String, base: String, type: String, entries: FolderEntries) {
        self.path = path
        self.base = base
        self.type = type
        self.entries = entries
    }

    /// How many files there are, when they have been put in order.
    public var count: Int { files.count }

    /// The name of a file, by its place in the order of the pings.
    public func name(_ index: Int) -> [UInt8] { entries.name(Int(files[index])) }

    /// Adds a file.
    /// - Parameter entry: its place among the entries.
    mutating func append(_ entry: Int, time: DecimalTime?) {
        unsorted.append(Unsorted(time: time, entry: UInt32(entry)))
    }

    /// Puts the files in order: by the time in the name, else of the envelope; ties by name.
    mutating func sort() {
        unsorted.sort { [entries] left, right in
            switch (left.time, right.time) {
            case (let leftTime?, let rightTime?) where leftTime != rightTime: leftTime < rightTime
            case (nil, _?): true
            case (_?, nil): false
            default: entries.precedes(Int(left.entry), Int(right.entry))
            }
        }
        files = unsorted.map(\.entry)
        unsorted = []
    }
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
    public var applicationID: String? { isGroup ? nil : identifier }

    /// The bundle id of the app that a group container belongs to: `group.<bundle id>` goes with `<bundle id>`.
    public var applicationOfGroup: String? {
        isGroup ? identifier.map { String($0.dropFirst("group.".count)) } : nil
    }
}
