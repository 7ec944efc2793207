import Bytes
import JSONText
import Telemetry

/// The rules of Mozilla's pipeline for pings of telemetry-ios.
///
/// Source: "BigQuery rows", section 8.
struct MozillaLiveTables: LiveTableFormat {
    private static let unwantedTypes: Set<CapturedText> = [
        "frecency-update", "modules", "pioneer-study", "saved-session",
    ]
    /// The document types that are accepted only from Firefox.
    private static let firefoxTypes: Set<CapturedText> = ["event", "main"]
    private static let unwantedApp: CapturedText = "FirefoxOS"
    private static let firefox: CapturedText = "Firefox"

    func rejection(of message: PipelineMessage, payload: JSONDocument) -> String? {
        let app = message.appName.map { CapturedText($0) }
        if app == Self.unwantedApp { return "unwanted: \(Self.unwantedApp)" }
        guard CapturedText(message.namespace) == PipelineMessage.telemetry else { return nil }
        let isUnwanted =
            Self.unwantedTypes.contains(message.documentType)
            || Self.firefoxTypes.contains(message.documentType) && app != Self.firefox
        return isUnwanted ? "unwanted: \(message.documentType)" : nil
    }

    /// Removes the account id from events of versions of Lockbox that sent it by mistake.
    func redact(_ payload: inout JSONDocument, of message: PipelineMessage) {
        guard CapturedText(message.namespace) == PipelineMessage.telemetry,
            CapturedText(message.documentType) == "focus-event", message.appName.map({ CapturedText($0) }) == "Lockbox",
            message.appVersion.map(Self.sendsAccountID) == true,
            let events = payload.array(MeasurementKeys.events, in: payload.root)
        else { return }
        for event in payload.elements(of: events) {
            let parts = payload.elements(of: event)
            guard parts.count > 5, let account = payload.value(of: "fxauid", in: parts[5]) else { continue }
            payload.replaceWithNull(account)
        }
    }

    /// Returns whether a version is from 1.0 to 1.6, or 1.7.0.
    private static func sendsAccountID(_ version: String) -> Bool {
        let bytes = Array(version.utf8)
        if bytes.elementsEqual("1.7.0".utf8) { return true }
        guard bytes.count >= 3, bytes.starts(with: "1.".utf8), bytes[2].isDigit, bytes[2] <= UInt8(ascii: "6") else {
            return false
        }
        return bytes[3...].allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}
