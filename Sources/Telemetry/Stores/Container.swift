import Bytes
import Synchronization

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

/// The stores of a container.
///
/// A container can have hundreds of thousands of stores, each of which is read with the others at hand. Facts about all
/// of them are therefore computed only once.
public final class ContainerStores: Sendable {
    /// The stores, sorted by the UTF-8 bytes of their paths.
    public let stores: [any Store]
    private let facts = Mutex<[CapturedText: any Sendable]>([:])

    /// A value, which can be `nil`.
    private struct Fact<Value: Sendable>: Sendable {
        let value: Value
    }

    /// Creates the list of `stores`, which must have ascending paths.
    public init(_ stores: [any Store]) { self.stores = stores }

    /// Returns the first store at `path`, or `nil` if there is none.
    public func store(at path: String) -> (any Store)? {
        let index = stores.indices.partitioningIndex {
            !stores[$0].path.utf8.lexicographicallyPrecedes(path.utf8)
        }
        guard index < stores.count, stores[index].path.utf8.elementsEqual(path.utf8) else { return nil }
        return stores[index]
    }

    /// Returns the value that `compute` derives from the stores, which is computed only once for each name.
    ///
    /// `compute` must always return the same value for the container, because several jobs can call it.
    public func fact<Value: Sendable>(named name: String, _ compute: () -> Value) -> Value {
        if let known = facts.withLock({ $0[name] }) as? Fact<Value> { return known.value }
        let value = compute()
        facts.withLock { $0[name] = Fact(value: value) }
        return value
    }
}
