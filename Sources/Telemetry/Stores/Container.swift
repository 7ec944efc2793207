import Bytes

/// The container of an app, an app group or a plugin: the folder in which its `Documents` and `Library` lie.
public struct Container: Sendable, Hashable {
    /// Whose container it is.
    public enum Kind: Sendable, Hashable {
        case app, group, plugin
    }

    /// Path below the root of the capture; empty for the root itself.
    public let path: String
    /// Bundle id of the app, or identifier of the group or the plugin, where the capture tells it.
    public let identifier: String?
    /// Whose container it is.
    public let kind: Kind

    /// Names a container.
    /// - Parameter kind: whose it is; nil where only the identifier tells.
    public init(path: String, identifier: String?, kind: Kind? = nil) {
        self.path = path
        self.identifier = identifier
        self.kind = kind ?? (identifier?.hasPrefix(Self.groupPrefix) ?? false ? .group : .app)
    }

    /// Texts are equal that differ in their bytes, and folders are not.
    public static func == (left: Container, right: Container) -> Bool {
        left.kind == right.kind && left.identifier == right.identifier
            && left.path.utf8.span.equals(right.path.utf8.span)
    }

    private static let groupPrefix = "group."

    /// Whether the container is that of an app group.
    public var isGroup: Bool { kind == .group }

    /// The bundle id of an app's own container.
    public var applicationID: String? { kind == .app ? identifier : nil }

    /// The bundle id of the app that a group container belongs to: `group.<bundle id>` goes with `<bundle id>`.
    public var applicationOfGroup: String? {
        guard isGroup, let identifier, identifier.hasPrefix(Self.groupPrefix) else { return nil }
        return String(identifier.dropFirst(Self.groupPrefix.count))
    }
}
