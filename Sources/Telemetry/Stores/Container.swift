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

/// The stores of a container, sorted by the UTF-8 bytes of their paths.
///
/// A container can have hundreds of thousands of stores, each of which is read with the others at hand. The stores are
/// therefore not copied, and facts about all of them are computed only once.
public struct ContainerStores: RandomAccessCollection, Sendable {
    /// The stores of the capture.
    private let stores: [any Store]
    /// The indices of the stores of the container.
    private let storeNumbers: ArraySlice<UInt32>
    private let facts: ContainerFacts

    /// Creates the collection of the stores at `indices`, which must have ascending paths.
    public init(_ stores: [any Store], at indices: ArraySlice<UInt32>, facts: ContainerFacts = ContainerFacts()) {
        self.stores = stores
        storeNumbers = indices
        self.facts = facts
    }

    /// The index of the first store.
    public var startIndex: Int { storeNumbers.startIndex }
    /// The index after the last store.
    public var endIndex: Int { storeNumbers.endIndex }

    /// Returns the store at an index.
    public subscript(index: Int) -> any Store { stores[Int(storeNumbers[index])] }

    /// Returns the first store at `path`, or `nil` if there is none.
    public func store(at path: String) -> (any Store)? {
        let index = (startIndex..<endIndex).partitioningIndex {
            !self[$0].path.utf8.lexicographicallyPrecedes(path.utf8)
        }
        guard index < endIndex, self[index].path.utf8.elementsEqual(path.utf8) else { return nil }
        return self[index]
    }

    /// Returns the value that `compute` derives from the stores, which is computed only once for each name.
    ///
    /// `compute` must always return the same value for the container, because several jobs can call it.
    public func fact<Value: Sendable>(named name: String, _ compute: () -> Value) -> Value {
        guard let first = storeNumbers.first else { return compute() }
        let key = ContainerFacts.Key(firstStore: first, name: Array(name.utf8))
        if let known = facts.values.withLock({ $0[key] }) as? ContainerFacts.Fact<Value> { return known.value }
        let value = compute()
        facts.values.withLock { $0[key] = ContainerFacts.Fact(value: value) }
        return value
    }
}

/// A cache of the facts that are derived from all stores of a container, for all containers of a capture.
public final class ContainerFacts: Sendable {
    fileprivate struct Key: Hashable {
        /// The index of the first store of the container.
        let firstStore: UInt32
        let name: [UInt8]
    }

    /// A value, which can be `nil`.
    fileprivate struct Fact<Value: Sendable>: Sendable {
        let value: Value
    }

    fileprivate let values = Mutex<[Key: any Sendable]>([:])

    /// Creates an empty cache.
    public init() {}
}
