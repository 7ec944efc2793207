/// The container of an app or an app group: the folder in which its `Documents` and `Library` lie.
public struct Container: Sendable, Hashable {
    /// Path below the root of the capture; empty for the root itself.
    public let path: String
    /// Bundle id of the app, or identifier of the group, where the capture tells it.
    public let identifier: String?

    /// Names a container.
    public init(path: String, identifier: String?) {
        self.path = path
        self.identifier = identifier
    }

    /// Whether the container is that of an app group.
    public var isGroup: Bool { identifier?.hasPrefix("group.") ?? false }

    /// The bundle id of an app's own container.
    public var applicationID: String? { isGroup ? nil : identifier }

    /// The bundle id of the app that a group container belongs to: `group.<bundle id>` goes with `<bundle id>`.
    public var applicationOfGroup: String? {
        isGroup ? identifier.map { String($0.dropFirst("group.".count)) } : nil
    }
}
