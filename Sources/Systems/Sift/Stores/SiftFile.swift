import Files
import Telemetry

/// A file in the folder of the SDK.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 2.1.
package enum SiftFile: Sendable, Equatable {
    /// The file `sift`, which contains the account id, the user id and a credential, the beacon key.
    case keys
    /// The file `ios_app_state_collector`, which contains the time at which app states were last collected.
    case collector
    /// The file `uploader`, which contains batches of events whose upload is not yet confirmed.
    case uploader
    /// The file `queues/<identifier>`, which contains a queue of events.
    case queue(identifier: String)

    /// The name of the folder of the SDK, in all versions.
    static let folderName = "sift-v0_0_1"
    /// The name of the subfolder that contains the queues.
    static let queuesFolderName = "queues"

    /// Creates the kind of a file in the folder of the SDK, or returns `nil` if the SDK does not write such a file.
    init?(name: String) {
        switch name {
        case "sift": self = .keys
        case "ios_app_state_collector": self = .collector
        case "uploader": self = .uploader
        default: return nil
        }
    }

    /// Creates the kind of a file in the folder at `path`, or returns `nil` if the folder is not from the SDK.
    init?(name: String, inFolder path: String) {
        let parts = Path.parts(of: path)
        guard let index = parts.lastIndex(of: Self.folderName) else { return nil }
        let below = parts[(index + 1)...]
        if below.isEmpty {
            self.init(name: name)
        } else if below.first == Self.queuesFolderName {
            self = .queue(identifier: (below.dropFirst() + [name]).joined(separator: "/"))
        } else {
            return nil
        }
    }

    /// Creates the kind of an archive from its contents, or returns `nil` if it is neither an uploader nor a queue.
    ///
    /// A queue gets the identifier `name`.
    init?(archive bytes: [UInt8], name: String) {
        guard var archive = try? SiftArchive(bytes) else { return nil }
        if (try? archive.list(forKey: "batches")) != nil {
            self = .uploader
        } else if (try? archive.list(forKey: "queue")) != nil, archive.hasQueueTimestamps {
            self = .queue(identifier: name)
        } else {
            return nil
        }
    }

    /// The strings that identify the file, because every nonempty file of this kind contains at least one of them.
    var identifyingStrings: [String] {
        switch self {
        case .keys: ["accountId", "beaconKey", "userId"]
        case .collector: ["lastCollectedAt"]
        case .uploader: ["batches"]
        case .queue: ["queue"]
        }
    }

    /// The kind of store, which is the uploader for all files that are not queues.
    var kind: StoreKind {
        if case .queue = self { .siftQueue } else { .siftUploader }
    }

    /// Whether the file can contain pending events.
    var canContainEvents: Bool {
        switch self {
        case .keys, .collector: false
        case .uploader, .queue: true
        }
    }

    /// Whether the SDK stores a credential in the file, which therefore must not be copied.
    var containsCredential: Bool { self == .keys }

    /// A string that occurs in every file with a credential.
    static let credentialMarker = "beaconKey"
}
