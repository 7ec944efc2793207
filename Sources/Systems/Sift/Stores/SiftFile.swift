import Files
import Telemetry

/// A file in the folder of the SDK.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 2.1.
package enum SiftFile: Sendable, Equatable {
    /// The file `sift`, which contains the account id, the user id, and the beacon key as a credential.
    case keys
    /// The file `ios_app_state_collector`, which contains the time at which app states were last collected.
    case collector
    /// The file `uploader`, which contains batches of events whose upload is not yet confirmed.
    case uploader
    /// The file `queues/<identifier>`, which contains a queue of events.
    case queue(identifier: String)

    /// The name of the SDK's folder, which is the same in all versions of the SDK.
    static let folderName = "sift-v0_0_1"
    /// The name of the subfolder that contains the queues.
    static let queuesFolderName = "queues"

    /// Creates the kind of the file `name` in the folder of the SDK, or returns `nil` if the SDK writes no such file.
    init?(name: String) {
        switch name {
        case "sift": self = .keys
        case "ios_app_state_collector": self = .collector
        case "uploader": self = .uploader
        default: return nil
        }
    }

    /// Creates the kind of the file `name` in the folder at `path`, or returns `nil` if the file is not from the SDK.
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

    /// Creates the kind of an archive from its contents, or returns `nil` if the archive is neither an uploader nor a
    /// queue.
    ///
    /// If the archive is a queue, its identifier is `name`.
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

    /// The strings that identify a file of this kind.
    ///
    /// Every nonempty file of this kind contains at least one of them.
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

    /// Whether the SDK stores a credential in the file, so that the file must not be copied.
    var containsCredential: Bool { self == .keys }

    /// A string that occurs in every file with a credential.
    static let credentialMarker = "beaconKey"
}
