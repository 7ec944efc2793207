import Bytes

/// The domain of an app container in a backup.
///
/// Source: "iOS backups", sections 3 and 6.
public struct BackupDomain: Sendable, Hashable {
    /// The kinds of containers.
    public enum Kind: Sendable, CaseIterable {
        case app, group, plugin

        /// The prefix of the names of domains of this kind.
        public var prefix: String {
            switch self {
            case .app: "AppDomain-"
            case .group: "AppDomainGroup-"
            case .plugin: "AppDomainPlugin-"
            }
        }
    }

    /// The kind of the container.
    public let kind: Kind
    /// The bundle identifier, or the identifier of the group or plugin.
    @CapturedText public private(set) var identifier: String

    /// The maximum length of the name of a domain, in bytes.
    static let nameLengthLimit = 255

    /// Parses the name of a domain, or returns `nil` if the domain does not belong to an app container.
    public init?(name: String) {
        guard let kind = Kind.allCases.first(where: { name.utf8.starts(with: $0.prefix.utf8) }),
            name.utf8.count > kind.prefix.utf8.count
        else { return nil }
        self.kind = kind
        identifier = String(name.utf8.dropFirst(kind.prefix.utf8.count)) ?? ""
    }

    /// The name of the domain.
    public var name: String { kind.prefix + identifier }

    /// Returns whether an unknown domain probably belongs to an app container, but has a name with a damaged prefix.
    ///
    /// A name is damaged if its start differs from a prefix in at most ``damagedCharacterLimit`` characters. A prefix
    /// without an identifier is damaged too.
    static func isDamaged(name: [UInt8]) -> Bool {
        Kind.allCases.contains { kind in
            let prefix = kind.prefix.utf8
            return name.count >= prefix.count && zip(name, prefix).count(where: { $0 != $1 }) <= damagedCharacterLimit
        }
    }

    /// The maximum number of damaged characters in a prefix that is still recognized.
    ///
    /// Every system domain name differs from every prefix in more characters than this.
    private static let damagedCharacterLimit = 2
}

/// The domain of a row of a manifest, regardless of its path.
public enum RowDomain: Sendable, Equatable {
    /// A domain of the system, which is ignored.
    case system
    /// No domain, because the name is invalid or damaged.
    case invalid
    /// The domain of an app container.
    case app(BackupDomain)

    /// Classifies a domain by its name.
    public init(name bytes: [UInt8]) {
        let name = String(decoding: bytes, as: UTF8.self)
        guard bytes.count <= BackupDomain.nameLengthLimit, name.utf8.elementsEqual(bytes), bytes.isValidComponent else {
            self = .invalid
            return
        }
        guard let domain = BackupDomain(name: name) else {
            self = BackupDomain.isDamaged(name: bytes) ? .invalid : .system
            return
        }
        self = .app(domain)
    }
}

extension ManifestRow {
    /// Whether the path is valid in an app container.
    ///
    /// The path of the container itself is empty.
    public var hasValidPath: Bool {
        if path.isEmpty { return true }
        guard path.count <= InputLimits.pathSize, (try? UTF8Span(validating: path.span)) != nil else { return false }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= InputLimits.pathDepth && parts.allSatisfy(\.isValidComponent)
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are a valid name of a folder or file.
    fileprivate var isValidComponent: Bool {
        !isEmpty && !elementsEqual(".".utf8) && !elementsEqual("..".utf8) && !contains(0)
            && !contains(UInt8(ascii: "/"))
    }
}
