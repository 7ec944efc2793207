import JSONText

/// Puts documented meanings to the events of payloads. A labeler keeps its memory from one payload to the next.
///
/// Sources: the vocabularies of the systems' format documents. They are open: an event that no table has is data, not an
/// error.
public struct EventLabeler: Sendable {
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    private enum Keys {
        static let params: JSONKey = "params"
        static let type: JSONKey = "mobile_event_type"
    }

    /// Makes a labeler.
    public init() {}

    /// The meanings of the events of a payload, in their order; nil for one that no table has. Empty for a payload without
    /// events, such as a core ping.
    /// - Parameter bytes: the canonical payload of a record of this system and type.
    public mutating func labels(of bytes: [UInt8], system: TelemetrySystem, type: String) -> [String?] {
        guard (try? payload.read(bytes)) != nil else { return [] }
        defer { payload.reset() }
        switch system {
        case .mozilla: return mozillaLabels(type)
        case .activityStream: return activityStreamLabels(type)
        case .sift:
            return items(SiftRequestKeys.data).map { event in
                payload.text(Keys.type, in: event).flatMap { SiftVocabulary.meaning(ofType: $0) }
            }
        case .leanplum:
            var labels: [String?] = []
            for request in items(LeanplumRequestKeys.data) { labels.append(leanplumLabel(of: request)) }
            return labels
        }
    }

    private func items(_ key: JSONKey) -> [JSONNode] {
        payload.array(key, in: payload.root).map { payload.elements(of: $0) } ?? []
    }

    // MARK: Mozilla

    private func mozillaLabels(_ type: String) -> [String?] {
        let vocabulary: MozillaVocabulary? =
            switch type {
            case "focus-event": .focus
            case "mobile-event": .webXR
            default: nil
            }
        return items(MeasurementKeys.events).map { event in
            guard EventTuples.isTuple(event, in: payload) else { return nil }
            let words = payload.elements(of: event).dropFirst().prefix(4).map { word in
                payload.kind(of: word) == .string ? payload.string(of: word) : nil
            }
            guard let category = words[0], let method = words[1], let object = words[2] else { return nil }
            return vocabulary?.meaning(
                category: category, method: method, object: object, value: words.count > 3 ? words[3] : nil)
        }
    }

    // MARK: Activity Stream

    private func activityStreamLabels(_ type: String) -> [String?] {
        let batch = items(ActivityStreamKeys.payloads)
        let pings = batch.isEmpty ? [payload.root] : batch
        guard type == ActivityStreamTopic.events.rawValue else {
            return pings.map { _ in ActivityStreamVocabulary.session }
        }
        return pings.map { ping in
            payload.text(ActivityStreamKeys.event, in: ping).flatMap { ActivityStreamVocabulary.meaning(ofEvent: $0) }
        }
    }

    // MARK: Leanplum

    private mutating func leanplumLabel(of request: JSONNode) -> String? {
        guard let action = payload.text(LeanplumRequestKeys.action, in: request) else { return nil }
        guard action == "track" else {
            guard let meaning = LeanplumVocabulary.meaning(ofAction: action) else { return nil }
            let attributes = action == "setUserAttributes" ? attributes(of: request) : []
            return attributes.isEmpty ? meaning : "\(meaning): \(attributes.joined(separator: ", "))"
        }
        guard let event = payload.text(LeanplumRequestKeys.event, in: request) else {
            return payload.text(LeanplumRequestKeys.messageID, in: request).map { _ in LeanplumVocabulary.messageShown }
        }
        guard let meaning = LeanplumVocabulary.meaning(ofEvent: event) else { return nil }
        return destination(of: request).map { "\(meaning), deep link to \($0)" } ?? meaning
    }

    /// The user attributes that a request sets, in the order of their names; those that are not documented by a number alone.
    private mutating func attributes(of request: JSONNode) -> [String] {
        guard readNested(LeanplumRequestKeys.userAttributes, of: request) else { return [] }
        var known: [String] = []
        var unknown = 0
        for position in 0..<nested.memberCount(of: nested.root) {
            let name = nested.string(of: nested.member(at: position, of: nested.root).key)
            if let meaning = LeanplumVocabulary.meaning(ofAttribute: name) {
                known.append(meaning)
            } else {
                unknown += 1
            }
        }
        return unknown == 0 ? known : known + ["\(unknown) unknown attribute\(unknown == 1 ? "" : "s")"]
    }

    /// Where the first deep link among the parameters of an event leads.
    private mutating func destination(of request: JSONNode) -> String? {
        guard readNested(Keys.params, of: request) else { return nil }
        for position in 0..<nested.memberCount(of: nested.root) {
            let value = nested.member(at: position, of: nested.root).value
            guard nested.kind(of: value) == .string else { continue }
            if let destination = LeanplumVocabulary.destination(ofDeepLink: nested.string(of: value)) {
                return destination
            }
        }
        return nil
    }

    /// Reads a member that is text with JSON in it.
    private mutating func readNested(_ key: JSONKey, of request: JSONNode) -> Bool {
        guard let text = payload.value(of: key, in: request), payload.kind(of: text) == .string else { return false }
        return (try? nested.read(payload.bytes(of: text).copied())) != nil
    }
}
