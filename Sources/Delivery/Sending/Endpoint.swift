import FoundationEssentials
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

    /// The server in one spelling, with its port, so that two addresses of it are equal.
    public var address: String {
        "\(isEncrypted ? "https" : "http")://\(HostName.hostAndPort(host.lowercased(), port))"
    }

    /// Reads an address; nil if it is no `http` or `https` address of a host, with a port or without. Paths come from the
    /// records, and credentials do not belong on a command line: an address with either is none.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = HostName.asciiHost(parts), parts.hasOnlyHostAndPort,
            parts.percentEncodedUser == nil, parts.percentEncodedPassword == nil
        else { return nil }
        switch parts.scheme?.lowercased() {
        case "http": isEncrypted = false
        case "https": isEncrypted = true
        default: return nil
        }
        port = parts.port ?? (isEncrypted ? 443 : 80)
        guard (1...65535).contains(port) else { return nil }
        self.host = host
        description = parts.percentEncodedPath == "/" ? String(text.dropLast()) : text
    }
}

/// Parts are looked at as they were written: what is encoded and no UTF-8 reads as if it were not there.
extension URLComponents {
    /// Whether nothing comes behind host and port but a slash.
    var hasOnlyHostAndPort: Bool {
        (percentEncodedPath.isEmpty || percentEncodedPath == "/") && percentEncodedQuery == nil
            && percentEncodedFragment == nil
    }
}

/// The host in an address.
enum HostName {
    /// Host and port, an IPv6 address in brackets.
    static func hostAndPort(_ host: String, _ port: Int) -> String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// A name or an address without its brackets; nil unless it is plain ASCII with nothing encoded in it: names in other
    /// letters are given as `xn--…`.
    static func asciiHost(_ parts: URLComponents) -> String? {
        guard let bracketed = parts.percentEncodedHost else { return nil }
        let host = String(bracketed.drop { $0 == "[" }.reversed().drop { $0 == "]" }.reversed())
        guard !host.isEmpty else { return nil }
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return isPlain ? host : nil
    }
}
