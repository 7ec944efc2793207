import Bytes

/// The container of an app, an app group or a plugin: the folder that contains `Documents` and `Library`.
public struct Container: Sendable, Hashable {
    /// The kind of the owner of a container.
    public enum Kind: Sendable, Hashable {
        case app, group, plugin
    }

    /// The path relative to the root of the capture.
    ///
    /// Empty for the root itself.
    public let path: String
    /// The bundle id of the app, or the identifier of the group or the plugin.
    ///
    /// `nil` if the capture does not contain it.
    public let identifier: String?
    /// The kind of the owner.
    public let kind: Kind

    /// Creates a container.
    ///
    /// - Parameters:
    ///   - path: The path relative to the root of the capture.
    ///   - identifier: The identifier of the owner.
    ///   - kind: The kind of the owner. If this is `nil`, the identifier determines the kind.
    public init(path: String, identifier: String?, kind: Kind? = nil) {
        self.path = path
        self.identifier = identifier
        self.kind = kind ?? (identifier?.hasPrefix(Self.groupPrefix) ?? false ? .group : .app)
    }

    /// Returns whether two containers are equal.
    ///
    /// Paths are compared by their bytes, because strings with different bytes can be equal while their folders differ.
    public static func == (left: Container, right: Container) -> Bool {
        left.kind == right.kind && left.identifier == right.identifier
            && left.path.utf8.span.equals(right.path.utf8.span)
    }

    private static let groupPrefix = "group."

    /// Whether the container belongs to an app group.
    public var isGroup: Bool { kind == .group }

    /// The bundle id of the app, if this is the container of an app.
    public var applicationID: String? { kind == .app ? identifier : nil }

    /// The bundle id of the app that a group container belongs to.
    ///
    /// The container `group.<bundle id>` belongs to the app `<bundle id>`.
    public var groupApplicationID: String? {
        guard isGroup, let identifier, identifier.hasPrefix(Self.groupPrefix) else { return nil }
        return String(identifier.dropFirst(Self.groupPrefix.count))
    }
}
