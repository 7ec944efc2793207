import Bytes
import JSONText
import Telemetry

/// The rules of Mozilla's pipeline for pings of Glean.
///
/// Source: "BigQuery rows", section 8.
struct GleanLiveTables: LiveTableFormat {
    private static let unwantedNamespaces: Set<CapturedText> = ["mozilla-lockbox", "viu-politica"]
    private static let desktop: CapturedText = "firefox-desktop"
    private static let vpn: CapturedText = "mozillavpn"
    /// The minor versions of the SDK, with the major version 0, from which the pipeline rejects pings of Mozilla VPN.
    private static let rejectedVersions = 0...16

    func rejection(of message: PipelineMessage, payload: JSONDocument) -> String? {
        let namespace = CapturedText(message.namespace)
        if Self.unwantedNamespaces.contains(namespace) { return "unwanted: \(namespace)" }
        if namespace == Self.desktop, message.agent?.utf8.starts(with: "Glean".utf8) != true {
            return "unwanted: \(namespace) without an agent of Glean"
        }
        guard namespace == Self.vpn, CapturedText(message.documentType) == "main",
            let info = payload.value(of: GleanKeys.clientInfo, in: payload.root),
            let build = payload.text(GleanKeys.sdkBuild, in: info)
        else { return nil }
        let numbers = build.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard numbers.count > 1, numbers[0].elementsEqual("0".utf8), let minor = Int(Substring(numbers[1])),
            Self.rejectedVersions.contains(minor)
        else { return nil }
        return "mozillavpn with an SDK before 0.17"
    }

    func redact(_ payload: inout JSONDocument, of message: PipelineMessage) {}
}
