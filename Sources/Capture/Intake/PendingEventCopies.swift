import Hashing
import Telemetry

/// The records of pending events in each input, some of which are the same events with other borrowed fields.
///
/// Two paths in a capture can lead to the files of one app. If only one of them also leads to the preferences or the pings
/// of the app, only the records of that path have a client. Of the records with the same events in an input, those without
/// a client are superseded by those with a client, unless the apps are known to be different. Of those with the same
/// client, the one with the largest payload is kept.
///
/// The decision depends on the input and the key of a record alone, and not on the order of the records.
///
/// Source: "The record", section "Copies".
struct PendingEventCopies: Sendable {
    private struct Group: Hashable, Comparable {
        let input: Int
        let events: Digest16

        static func < (left: Group, right: Group) -> Bool { (left.input, left.events) < (right.input, right.events) }
    }

    private struct Copy: Sendable {
        let group: Group
        let key: RecordKey
        /// The hash of the client id, or `nil` if the client is unknown.
        let client: Digest16?
        /// The hash of the application id, or `nil` if the app is unknown.
        let app: Digest16?
        let payloadSize: Int

        /// Returns whether the copy is kept instead of another copy of the same client.
        func isBetter(than other: Copy) -> Bool {
            payloadSize == other.payloadSize ? key < other.key : payloadSize > other.payloadSize
        }
    }

    private struct InputKey: Hashable {
        let input: Int
        let key: RecordKey
    }

    private var copies: [Copy] = []
    /// The keys of the records that are kept instead of others.
    private var keptKeys: [InputKey: RecordKey] = [:]

    /// Adds a record, unless it does not consist of pending events.
    mutating func add(_ entry: borrowing ScanOutput.Entry) {
        guard let events = entry.pendingEvents else { return }
        copies.append(
            Copy(
                group: Group(input: entry.input, events: events), key: entry.key,
                client: entry.summary.client.map { Digest16(of: ClientID($0).lowercased.utf8.span) },
                app: entry.summary.appID.map { Digest16(of: $0.utf8.span) },
                payloadSize: entry.written.payload.count))
    }

    /// Decides which of the added records are superseded, and removes the others.
    mutating func decide() {
        copies.sort { $0.group < $1.group }
        var rest = copies[...]
        copies = []
        while let group = rest.first?.group {
            let same = rest.prefix { $0.group == group }
            rest = rest[same.endIndex...]
            if same.count > 1 { decide(among: same) }
        }
    }

    private mutating func decide(among copies: ArraySlice<Copy>) {
        var best: [Digest16?: Copy] = [:]
        var (appsWithClient, appsWithoutClient): (Set<Digest16?>, Set<Digest16?>) = ([], [])
        for copy in copies {
            if best[copy.client].map({ copy.isBetter(than: $0) }) ?? true { best[copy.client] = copy }
            if copy.client == nil { appsWithoutClient.insert(copy.app) } else { appsWithClient.insert(copy.app) }
        }
        // Copies without a client are superseded together, because their keys are equal if nothing was borrowed.
        let areSameApps =
            appsWithClient.contains(nil) || appsWithoutClient.isSubset(of: appsWithClient.union([nil]))
        let hasClient = !appsWithClient.isEmpty && areSameApps
        let bestWithClient = best.filter { $0.key != nil }.values.min { $0.isBetter(than: $1) }
        for copy in copies {
            let kept = copy.client == nil && hasClient ? bestWithClient : best[copy.client]
            guard let kept, kept.key != copy.key else { continue }
            keptKeys[InputKey(input: copy.group.input, key: copy.key)] = kept.key
        }
    }

    /// Returns the key of the copy with other borrowed fields that is kept instead of a record, or `nil` if there is none.
    func keyOfKeptCopy(of entry: borrowing ScanOutput.Entry) -> RecordKey? {
        entry.pendingEvents == nil ? nil : keptKeys[InputKey(input: entry.input, key: entry.key)]
    }
}
