import Bytes
import JSONText
import PropertyList
import Telemetry

/// The client id, events and counters that the SDK stores between pings (formats V1, V2 and V3).
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.1 and 3.2.
struct StoredValues: Sendable {
    /// The prefix of all keys of the SDK in the preferences of an app (format V3).
    static let keyPrefix = "telemetry-key-prefix-"

    /// The client id, which applies to all ping types, or `nil` if none is stored.
    private(set) var clientID: String?
    /// The events that are not yet included in a ping, by ping type in canonical order.
    private(set) var pendingEvents: [(type: String, events: PendingEvents)] = []
    /// The last sequence number of each ping type, in canonical order of the types.
    private(set) var lastNumbers: [(type: String, number: Int64)] = []
    /// The sentences about the uploads that the app made last, one for each ping type.
    private(set) var uploadFacts: [String] = []
    /// The problem that reports counters that are not yet included in a ping, or `nil` if all counters are zero.
    private(set) var counterProblem: Problem?

    /// Reads the values in a JSON object whose keys have no prefix, and ignores values of an unexpected type.
    init(_ bytes: [UInt8]) throws(JSONError) {
        var document = try JSONDocument(bytes)
        let root = document.root
        guard document.kind(of: root) == .object else {
            throw JSONError(.unexpectedByte, at: document.sourceRange(of: root)?.lowerBound ?? 0)
        }
        clientID = document.text(MeasurementKeys.clientID, in: root)
        counterProblem = Self.counterProblem(of: root, in: document)
        for member in document.members(of: root) {
            let key = document.string(of: member.key)
            addCounter(key, member.value, in: document)
            guard key.hasSuffix(Self.eventsSuffix), document.kind(of: member.value) == .array else { continue }
            let events = Self.events(in: member.value, key: key, of: &document)
            if events.events.count > 0 || !events.rejects.isEmpty {
                pendingEvents.append((String(key.dropLast(Self.eventsSuffix.count)), events))
            }
        }
    }

    private static let eventsSuffix = "-events"
    private static let numberSuffix = "-seq"
    private static let uploadCountSuffix = "-dailyUploadCount"
    private static let uploadTimeSuffix = "-lastUploadTimestamp"
    /// The maximum number of ping types whose counters are read, which limits the output of a hostile file.
    private static let maximumTypeCount = 100

    /// Adds the sequence number or the upload count in a member of the root, which is ignored if it is something else.
    private mutating func addCounter(_ key: String, _ value: JSONNode, in document: JSONDocument) {
        guard document.kind(of: value) == .number, let number = Int64(decimal: document.bytes(of: value)) else {
            return
        }
        if key.hasSuffix(Self.numberSuffix), number > 0, lastNumbers.count < Self.maximumTypeCount {
            lastNumbers.append((String(key.dropLast(Self.numberSuffix.count)), number))
        }
        if key.hasSuffix(Self.uploadCountSuffix), number >= 0, uploadFacts.count < Self.maximumTypeCount {
            let type = String(key.dropLast(Self.uploadCountSuffix.count))
            let day = Self.lastUploadDay(ofType: type, in: document).map { ", last upload on \($0) (UTC)" } ?? ""
            uploadFacts.append("\(type): daily upload count \(number)\(day)")
        }
    }

    /// Returns a date such as `2018-05-24`, or `nil` if no time of an upload is stored.
    private static func lastUploadDay(ofType type: String, in document: JSONDocument) -> Substring? {
        guard let time = document.value(of: JSONKey(type + uploadTimeSuffix), .number, in: document.root),
            let seconds = DecimalTime(document.bytes(of: time)), seconds.seconds > 0
        else { return nil }
        return seconds.timestamp?.description.prefix(10)
    }

    private static func events(in array: JSONNode, key: String, of document: inout JSONDocument) -> PendingEvents {
        var pending = PendingEvents()
        for (index, element) in document.elements(of: array).enumerated()
        where !pending.append(element, of: &document) {
            pending.rejects.append(Reject("F12 \(key)[\(index)] is not a tuple"))
        }
        return pending
    }

    private static func counterProblem(of root: JSONNode, in document: JSONDocument) -> Problem? {
        func number(_ key: JSONKey) -> Int {
            document.value(of: key, .number, in: root).flatMap { Int(document.string(of: $0)) } ?? 0
        }
        let sessions = number("sessions")
        let durations = number("durations")
        let searches = document.value(of: MeasurementKeys.searches, in: root).map { document.memberCount(of: $0) } ?? 0
        guard sessions != 0 || durations != 0 || searches > 0 else { return nil }
        return Problem(
            "pending-counters",
            "sessions \(sessions), durations \(durations), searches in \(searches.counted("key")) are in no ping yet")
    }
}

/// The functions that convert the property lists of Mozilla's SDK to JSON.
enum PreferencesJSON {
    /// Returns a canonical JSON object of the entries whose keys start with `prefix`, without the prefix in the keys.
    static func entries(
        of document: PropertyListDocument, withPrefix prefix: String
    ) throws(PropertyListError) -> [UInt8] {
        guard document.kind(of: document.root) == .dictionary else {
            throw document.error(.wrongRoot, at: document.root, "the root of preferences is no dictionary")
        }
        var json = PropertyListJSONWriter(
            document, keyOrder: .canonical, nonJSONValues: .nearest, limits: limits(of: document))
        let members = document.members(of: document.root)
        var object = CanonicalObject()
        for position in 0..<members.count {
            let key = document.string(of: document.key(at: position, of: members))
            guard key.hasPrefix(prefix) else { continue }
            do throws(PropertyListJSONWriter.WritingError) {
                try json.write(document.value(at: position, of: members))
            } catch {
                throw document.error(
                    .budgetExceeded, at: error.node, "shared values that become too many when written out")
            }
            object.set(JSONKey(String(key.dropFirst(prefix.count))), CanonicalText(json.text))
        }
        return object.bytes
    }

    /// Returns size limits that a property list can exceed only if it refers to the same values repeatedly.
    private static func limits(of document: PropertyListDocument) -> PropertyListJSONWriter.Limits {
        let bytes = InputLimits.storeFileSize + 8 * document.sourceLength
        return PropertyListJSONWriter.Limits(valueSize: bytes, fileSize: bytes, valueCount: document.expansionLimit)
    }
}

/// The settings of Mozilla's apps for usage data.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
enum UsageDataPreferences {
    static let settings = [
        focus("Focus", stateIfAbsent: .on),
        // Klar sends usage data only if the user has switched it on.
        focus("Klar", stateIfAbsent: .off),
        firefox("Firefox"), firefox("FirefoxBeta"), firefox("Fennec"), firefox("FennecEnterprise"),
        // The app group of nightly builds is not named for their bundle id.
        firefox("FennecEnterprise", group: "Fennec.enterprise"),
        // The app writes the setting when the user answers its question about usage data.
        setting(
            "XRViewer", appName: "WebXR", file: "\(prefix)XRViewer", key: "useAnalytics", stateIfAbsent: .unknown),
    ]

    private static let prefix = "org.mozilla.ios."

    private static func focus(_ name: String, stateIfAbsent: UsageDataState) -> UsageDataSetting {
        setting(
            name, appName: name, file: "group.\(prefix)\(name)", key: "SendAnonymousUsageData",
            stateIfAbsent: stateIfAbsent)
    }

    private static func firefox(_ name: String, group: String? = nil) -> UsageDataSetting {
        setting(
            name, appName: "Fennec", file: "group.\(prefix)\(group ?? name)", key: "profile.settings.sendUsageData",
            stateIfAbsent: .on)
    }

    private static func setting(
        _ name: String, appName: String, file: String, key: String, stateIfAbsent: UsageDataState
    ) -> UsageDataSetting {
        UsageDataSetting(
            applicationID: prefix + name, appName: appName, fileName: "\(file).plist", key: key,
            stateIfAbsent: stateIfAbsent, systems: [.mozilla, leanplum])
    }

    /// The system of Leanplum, which Firefox switches off together with telemetry-ios.
    private static let leanplum = SystemName("leanplum")

    /// Returns the setting in a property list called `name`, or `nil` if there is none.
    static func setting(ofFile name: String) -> UsageDataSetting? {
        settings.first { $0.fileName.utf8.elementsEqual(name.utf8) }
    }

    /// Returns the state of `setting` in the contents of its property list, or `nil` if they are damaged.
    static func state(of setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState? {
        guard let document = try? PropertyListDocument(contents), document.kind(of: document.root) == .dictionary else {
            return nil
        }
        guard let value = document.value(of: JSONKey(setting.key), in: document.root) else {
            return setting.stateIfAbsent
        }
        return isTrue(value, in: document) ? .on : .off
    }

    /// Returns whether `value` is true by the rules of `UserDefaults.bool(forKey:)`.
    ///
    /// A number is true unless it is 0. A string is true if it is `YES`, `true` or `1` in any case. All other values
    /// are false.
    private static func isTrue(_ value: PropertyListNode, in document: PropertyListDocument) -> Bool {
        if let number = document.number(of: value) { return number != 0 }
        return document.kind(of: value) == .text && document.payload(of: value).count <= maximumTrueSize
            && ["yes", "true", "1"].contains { document.string(of: value).utf8.map(\.lowercased) == Array($0.utf8) }
    }

    /// The size, in bytes, of the longest string that is true, in UTF-16.
    private static let maximumTrueSize = 8
}
