import Bytes

/// The folder of an app, an app group or a plugin that contains `Documents` and `Library`.
public struct Container: Sendable, Hashable {
    /// The kind of owner that a container has.
    public enum Kind: Sendable, Hashable {
        case app, group, plugin
    }

    /// The path relative to the root of the capture, which is empty for the root itself.
    @CapturedText public private(set) var path: String
    /// The bundle id or group identifier, if the capture contains it.
    @OptionalCapturedText public private(set) var identifier: String?
    /// The kind of owner that the container has.
    public let kind: Kind

    /// Creates a container.
    ///
    /// If `kind` is `nil`, it is derived from the identifier.
    public init(path: String, identifier: String?, kind: Kind? = nil) {
        self.path = path
        self.identifier = identifier
        self.kind = kind ?? (identifier?.hasPrefix(Self.groupPrefix) ?? false ? .group : .app)
    }

    private static let groupPrefix = "group."

    /// The bundle id of the app, if this is the container of an app.
    public var applicationID: String? { kind == .app ? identifier : nil }

    /// The bundle id of the app, if this is a group container called `group.<bundle id>`.
    public var groupApplicationID: String? {
        guard kind == .group, let identifier, identifier.hasPrefix(Self.groupPrefix) else { return nil }
        return String(identifier.dropFirst(Self.groupPrefix.count))
    }
}
