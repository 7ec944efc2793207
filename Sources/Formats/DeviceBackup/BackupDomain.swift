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

/// The location to which a row of a manifest belongs.
public enum RowLocation: Sendable, Equatable {
    /// A domain of the system, which is ignored.
    case system
    /// An app container, and a path relative to it.
    ///
    /// The path is empty for the container itself.
    case app(BackupDomain, path: [UInt8])
    /// No location, because the domain or the path is invalid.
    case invalid

    /// The domain of a row, regardless of its path.
    public enum Domain: Sendable, Equatable {
        case system, invalid
        case app(BackupDomain)

        /// Classifies a domain by its name.
        public init(name bytes: [UInt8]) {
            let name = String(decoding: bytes, as: UTF8.self)
            guard bytes.count <= BackupDomain.nameLengthLimit, name.utf8.elementsEqual(bytes),
                RowLocation.isValidComponent(bytes)
            else {
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

    /// Determines the location of a row with a known domain.
    public init(_ row: ManifestRow, in domain: Domain) {
        switch domain {
        case .system: self = .system
        case .invalid: self = .invalid
        case .app(let domain):
            self = row.path.isEmpty || Self.isValidPath(row.path) ? .app(domain, path: row.path) : .invalid
        }
    }

    private static func isValidPath(_ path: [UInt8]) -> Bool {
        guard path.count <= InputLimits.pathSize, (try? UTF8Span(validating: path.span)) != nil else { return false }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= InputLimits.pathDepth && parts.allSatisfy(isValidComponent)
    }

    /// Returns whether the bytes are a valid name of a folder or file.
    fileprivate static func isValidComponent(_ part: some Collection<UInt8>) -> Bool {
        !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8) && !part.contains(0)
            && !part.contains(UInt8(ascii: "/"))
    }
}
