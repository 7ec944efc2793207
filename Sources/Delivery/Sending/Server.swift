import Bytes
import Essentials
import Telemetry

/// A server that receives uploads of one system.
///
/// Systems that share an address have different servers, so that the refusals of one system do not stop another.
public struct Server: Hashable, Sendable {
    /// The system whose uploads the server receives.
    public let system: SystemName
    /// The address of the server.
    public let endpoint: Endpoint
}

/// The servers that receive uploads, by type.
public struct ServerTable: Sendable {
    /// The server of each system, for the types that do not have their own server.
    private var serversOfSystems: [SystemName: Server] = [:]
    /// The servers of the types that have their own server.
    private var serversOfTypes: [TypeName: Server] = [:]

    /// Creates an empty table.
    public init() {}

    /// Creates a table of the documented servers of `systems`, except for the systems in `given`.
    ///
    /// An endpoint in `given` receives the uploads of all types of its system.
    public init(given: [SystemName: Endpoint] = [:], of systems: SystemTable) {
        serversOfSystems = Dictionary(
            uniqueKeysWithValues: given.map { ($0.key, Server(system: $0.key, endpoint: $0.value)) })
        for system in systems.all where given[system.name] == nil {
            serversOfSystems[system.name] = Self.server(of: system.name, system.uploads.endpoint)
            for (type, address) in system.uploads.endpointsOfTypes {
                serversOfTypes[TypeName(system: system.name, name: type.string)] = Self.server(of: system.name, address)
            }
        }
    }

    private static func server(of system: SystemName, _ address: String) -> Server? {
        Endpoint(address).map { Server(system: system, endpoint: $0) }
    }

    /// Returns the server that receives uploads of `type`, or `nil` if its system is unknown.
    public subscript(type: TypeName) -> Server? { serversOfTypes[type] ?? serversOfSystems[type.system] }

    /// The number of different servers.
    public var count: Int { Set(serversOfSystems.values).union(serversOfTypes.values).count }
}

/// A server that receives uploads: a scheme, host and port.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Whether connections are encrypted.
    public let isEncrypted: Bool
    /// The host name or address, without the brackets of an IPv6 address.
    public let host: String
    /// The port of the server.
    public let port: Int
    /// The address without a path, such as `https://incoming.telemetry.mozilla.org`.
    public let description: String

    /// The address in canonical form, with the port, so that equal servers have equal addresses.
    public var address: String {
        "\(isEncrypted ? "https" : "http")://\(HostName.hostAndPort(host.lowercased(), port))"
    }

    /// Parses an `http` or `https` address with an optional port, or returns `nil` for anything else.
    ///
    /// Paths are rejected, because records specify them. Credentials are rejected, because other users can read command
    /// lines.
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

/// These properties read percent-encoded components, because decoded components are `nil` if they are not UTF-8.
extension URLComponents {
    /// Whether nothing follows the host and port, except for a slash.
    var hasOnlyHostAndPort: Bool {
        (percentEncodedPath.isEmpty || percentEncodedPath == "/") && percentEncodedQuery == nil
            && percentEncodedFragment == nil
    }
}

enum HostName {
    /// Returns `host` and `port` joined by a colon, with brackets around an IPv6 address.
    static func hostAndPort(_ host: String, _ port: Int) -> String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// Returns the host of `parts` without brackets, or `nil` if it is missing, empty or contains characters other than
    /// ASCII letters, digits, `-`, `.`, `_` and `:`.
    static func asciiHost(_ parts: URLComponents) -> String? {
        guard let bracketed = parts.percentEncodedHost else { return nil }
        let host = String(bracketed.drop { $0 == "[" }.reversed().drop { $0 == "]" }.reversed())
        let isPlain = host.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0.isOne(of: "-._:") }
        return isPlain && !host.isEmpty ? host : nil
    }
}
