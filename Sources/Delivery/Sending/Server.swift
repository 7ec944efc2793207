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
