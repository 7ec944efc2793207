import Bytes
import JSONText
import Telemetry

/// The meanings of Leanplum's requests: the actions of the SDK, and the events, user attributes and deep links of
/// Firefox.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section D.
struct LeanplumVocabulary: Vocabulary {
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        guard let requests = payload.array(LeanplumKeys.data, in: payload.root) else { return [] }
        return payload.elements(of: requests).map { LeanplumLabels(payload: payload).label(of: $0, &nested) }
    }

    /// The action of requests that report an event or a shown message.
    static let trackAction = "track"

    /// The actions of the SDK.
    ///
    /// Requests of an app can have other actions.
    static let actionNames = Set(actions.keys).union([CapturedText(trackAction)])

    /// Returns the destination of a deep link such as `firefox://deep-link?url=settings/fxa` [D.3].
    ///
    /// Returns `nil` if `link` is not a documented deep link.
    static func destination(ofDeepLink link: String) -> String? {
        guard link.hasPrefix(deepLinkPrefix) else { return nil }
        // As in Firefox, letter case and empty components are ignored, and two components are required.
        let parts = link.dropFirst(deepLinkPrefix.count).lowercased().split(separator: "/")
        return parts.count == 2 ? deepLinks["\(parts[0])/\(parts[1])"] : nil
    }

    static let deepLinkPrefix = "firefox://deep-link?url="
}

/// The meanings of the requests in one payload.
private struct LeanplumLabels {
    let payload: JSONDocument

    /// Returns the meaning of a request, or `nil` if it is not documented.
    func label(of request: JSONNode, _ nested: inout JSONDocument) -> String? {
        guard let action = payload.text(LeanplumKeys.action, in: request) else { return nil }
        guard action == LeanplumVocabulary.trackAction else {
            guard let meaning = LeanplumVocabulary.actions[action] else { return nil }
            let isSetting = action == "setUserAttributes"
            let attributes = isSetting ? attributes(of: request, &nested) : []
            return attributes.isEmpty ? meaning : "\(meaning): \(attributes.joined(separator: ", "))"
        }
        guard let event = payload.text(LeanplumKeys.event, in: request) else {
            return payload.text(LeanplumKeys.messageID, in: request).map { _ in "Message shown" }
        }
        guard let meaning = LeanplumVocabulary.events[event] else { return nil }
        return destination(of: request, &nested).map { "\(meaning), deep link to \($0)" } ?? meaning
    }

    /// Returns the meanings of the user attributes that a request sets, and the number of undocumented attributes.
    private func attributes(of request: JSONNode, _ nested: inout JSONDocument) -> [String] {
        guard let text = payload.value(of: LeanplumKeys.userAttributes, in: request),
            nested.read(stringAt: text, of: payload)
        else { return [] }
        var known: [String] = []
        var unknown = 0
        for position in 0..<nested.memberCount(of: nested.root) {
            let name = nested.string(of: nested.member(at: position, of: nested.root).key)
            if let meaning = LeanplumVocabulary.attributes[name] {
                known.append(meaning)
            } else {
                unknown += 1
            }
        }
        return unknown == 0 ? known : known + ["\(unknown) unknown attribute\(unknown == 1 ? "" : "s")"]
    }

    /// Returns the destination of the first documented deep link in the parameters of an event, or `nil` if there is
    /// none.
    private func destination(of request: JSONNode, _ nested: inout JSONDocument) -> String? {
        guard let text = payload.value(of: LeanplumKeys.params, in: request),
            nested.read(stringAt: text, of: payload)
        else { return nil }
        for position in 0..<nested.memberCount(of: nested.root) {
            let value = nested.member(at: position, of: nested.root).value
            guard nested.kind(of: value) == .string else { continue }
            if let destination = LeanplumVocabulary.destination(ofDeepLink: nested.string(of: value)) {
                return destination
            }
        }
        return nil
    }
}
