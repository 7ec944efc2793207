import JSONText
import Telemetry

/// The documented meanings of packages, each of which is one event.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 12.
struct AdjustVocabulary: Vocabulary {
    private static let types = [
        AdjustType.session: "App session", AdjustType.deletionRequest: "Device asked to be forgotten",
        "info": "SDK information (push token or tracking permission)",
    ]

    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        guard let token = payload.text(AdjustParameters.eventToken, in: payload.root) else { return [Self.types[type]] }
        return [FocusTokens.meanings[token]]
    }
}
