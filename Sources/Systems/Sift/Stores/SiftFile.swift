import Files
import Telemetry

/// The files that the SDK keeps in its folder.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 2.1.
package enum SiftFile: Sendable, Equatable {
    /// `sift`: account id, user id, and the beacon key, which is a credential.
    case keys
    /// `ios_app_state_collector`: when app states were collected.
    case collector
    /// `uploader`: batches taken out of the queues and not yet confirmed.
    case uploader
    /// `queues/<identifier>`: a queue of events.
    case queue(identifier: String)

    /// The name of the folder, in every version of the SDK.
    static let folderName = "sift-v0_0_1"
    /// The name of the folder of the queues in it.
    static let queuesName = "queues"

    /// The file with a name, directly in the SDK's folder; nil if the SDK writes none of this name there.
    init?(name: String) {
        switch name {
        case "sift": self = .keys
        case "ios_app_state_collector": self = .collector
        case "uploader": self = .uploader
        default: return nil
        }
    }

    /// The file with a name in a folder whose path tells that it is the SDK's, or that of its queues.
    init?(name: String, inFolder path: String) {
        let parts = Path.parts(of: path)
        guard let place = parts.lastIndex(of: Self.folderName) else { return nil }
        let below = parts[(place + 1)...]
        if below.isEmpty {
            self.init(name: name)
        } else if below.first == Self.queuesName {
            self = .queue(identifier: (below.dropFirst() + [name]).joined(separator: "/"))
        } else {
            return nil
        }
    }

    /// The kind of an archive, whatever its name is: the uploader, or a queue of its name; nil for anything else.
    init?(archive bytes: [UInt8], name: String) {
        guard var archive = try? SiftArchive(bytes) else { return nil }
        if (try? archive.list("batches")) != nil {
            self = .uploader
        } else if (try? archive.list("queue")) != nil, archive.hasQueueClock {
            self = .queue(identifier: name)
        } else {
            return nil
        }
    }

    /// Texts of which one stands in every such file that holds anything: by them the folder is known under another name.
    var tellingTexts: [String] {
        switch self {
        case .keys: ["accountId", "beaconKey", "userId"]
        case .collector: ["lastCollectedAt"]
        case .uploader: ["batches"]
        case .queue: ["queue"]
        }
    }

    /// How records and reports name the kind of store. What belongs to no queue goes with the uploader.
    var kind: StoreKind {
        if case .queue = self { .siftQueue } else { .siftUploader }
    }

    /// Whether events wait in it.
    var hasEvents: Bool {
        switch self {
        case .keys, .collector: false
        case .uploader, .queue: true
        }
    }

    /// Whether the SDK keeps a credential in it, so that its bytes are never copied.
    var isForCredentials: Bool { self == .keys }

    /// A text that stands in every file that holds a credential, whatever it is called.
    static let credentialText = "beaconKey"
}
