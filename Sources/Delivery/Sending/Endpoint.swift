import Foundation
import Telemetry

/// A server that takes uploads: scheme, host and port.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Whether the connection is encrypted.
    public let isEncrypted: Bool
    /// The host name or address, without the brackets of an IPv6 address.
    public let host: String
    /// The port.
    public let port: Int
    /// The address without a path: `https://incoming.telemetry.mozilla.org`.
    public let description: String

    /// Reads an address; nil if it is no `http` or `https` address of a host, with a port or without. Paths come from the
    /// records, and credentials do not belong on a command line: an address with either is none.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil,
            parts.path.isEmpty || parts.path == "/"
        else { return nil }
        switch parts.scheme?.lowercased() {
        case "http": isEncrypted = false
        case "https": isEncrypted = true
        default: return nil
        }
        port = parts.port ?? (isEncrypted ? 443 : 80)
        guard (1...65535).contains(port) else { return nil }
        self.host = host.trimmingCharacters(in: ["[", "]"])
        description = parts.path == "/" ? String(text.dropLast()) : text
    }

    /// Where the documented SDKs send to.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 8.1; "Sift iOS SDK", section
    /// 8.1; "Leanplum (Mozilla MMA)", section C.3; "Activity Stream New Tab pings", section 3.
    public static func documented(for system: TelemetrySystem) -> String {
        switch system {
        case .mozilla: "https://incoming.telemetry.mozilla.org"
        case .sift: "https://api3.siftscience.com"
        case .leanplum: "https://api.leanplum.com"
        case .activityStream: "https://tiles.services.mozilla.com"
        }
    }
}
