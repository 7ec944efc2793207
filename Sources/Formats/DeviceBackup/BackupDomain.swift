/// The domain of a row that belongs to an app: its container in the backup.
///
/// Source: "iOS backups", sections 3 and 6.
public struct BackupDomain: Sendable, Hashable {
    /// The owner of a container.
    public enum Kind: Sendable, CaseIterable {
        case app, group, plugin

        /// What the names of these domains begin with.
        public var prefix: String {
            switch self {
            case .app: "AppDomain-"
            case .group: "AppDomainGroup-"
            case .plugin: "AppDomainPlugin-"
            }
        }
    }

    /// Whose container it is.
    public let kind: Kind
    /// The bundle id, or the identifier of the group or the plugin.
    public let identifier: String

    /// The most bytes of a domain's name.
    static let nameLimit = 255

    /// The domain of that name; nil if it is one of the system, or none.
    public init?(name: String) {
        guard let kind = Kind.allCases.first(where: { name.utf8.starts(with: $0.prefix.utf8) }),
            name.utf8.count > kind.prefix.utf8.count
        else { return nil }
        self.kind = kind
        identifier = String(name.utf8.dropFirst(kind.prefix.utf8.count)) ?? ""
    }

    /// The name.
    public var name: String { kind.prefix + identifier }

    /// Whether the name of a domain that belongs to no app is probably that of an app's domain with a damaged prefix: it has all
    /// characters of such a prefix except for at most ``damagedCharacters``. A prefix alone is damaged too.
    static func isDamaged(name: [UInt8]) -> Bool {
        Kind.allCases.contains { kind in
            let prefix = kind.prefix.utf8
            return name.count >= prefix.count && zip(name, prefix).count(where: { $0 != $1 }) <= damagedCharacters
        }
    }

    /// The maximum number of damaged characters. All domains of the system differ in more.
    private static let damagedCharacters = 2
}

/// Where a row belongs.
public enum RowPlace: Sendable, Equatable {
    /// To the system, which is passed over.
    case system
    /// To an app; the path is that below the container, empty for the container itself.
    case app(BackupDomain, path: [UInt8])
    /// Nowhere: its names lead elsewhere or say nothing.
    case refused

    private static let pathLimit = 4096
    private static let depthLimit = 256

    /// What a domain is, whatever the path of the row is.
    public enum Domain: Sendable, Equatable {
        case system, refused
        case app(BackupDomain)

        /// Finds out what a domain is.
        public init(name bytes: [UInt8]) {
            let name = String(decoding: bytes, as: UTF8.self)
            guard bytes.count <= BackupDomain.nameLimit, name.utf8.elementsEqual(bytes), RowPlace.isPart(bytes) else {
                self = .refused
                return
            }
            guard let domain = BackupDomain(name: name) else {
                self = BackupDomain.isDamaged(name: bytes) ? .refused : .system
                return
            }
            self = .app(domain)
        }
    }

    /// Finds the place of a row whose domain is known.
    public init(_ row: ManifestRow, in domain: Domain) {
        switch domain {
        case .system: self = .system
        case .refused: self = .refused
        case .app(let domain):
            self = row.path.isEmpty || Self.isPath(row.path) ? .app(domain, path: row.path) : .refused
        }
    }

    private static func isPath(_ path: [UInt8]) -> Bool {
        guard path.count <= pathLimit, (try? UTF8Span(validating: path.span)) != nil else { return false }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= depthLimit && parts.allSatisfy(isPart)
    }

    /// Whether bytes can be the name of one folder or file.
    fileprivate static func isPart(_ part: some Collection<UInt8>) -> Bool {
        !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8) && !part.contains(0)
            && !part.contains(UInt8(ascii: "/"))
    }
}
