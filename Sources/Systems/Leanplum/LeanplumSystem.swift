import Telemetry

/// Leanplum, the service behind Mozilla Mobile Analytics: requests that its SDK queued, and the `multi` call that sends them.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload".
public struct LeanplumSystem: TelemetrySystem {
    /// Makes the system.
    public init() {}

    /// `leanplum`.
    public let name = SystemName.leanplum
    /// The database of SDKs since 2.0.3, and the property lists of older ones.
    public let stores: StoreFormat? = LeanplumStores.format
    /// What a captured call to it looks like.
    public let requests = LeanplumCalls.format
    /// How a `multi` call is made, and what its answers mean.
    public let uploads = LeanplumUploads.format
    /// What stays, and what becomes a pseudonym.
    public let pseudonyms: PseudonymFormat? = LeanplumPseudonyms.format
    /// What its actions, events and user attributes mean.
    public let vocabulary: (any Vocabulary)? = LeanplumVocabulary()
    /// What its events and fields are in tables.
    public let rows: (any RowFormat)? = LeanplumRows()
}

extension SystemName {
    /// Leanplum.
    public static let leanplum = SystemName("leanplum")
}

extension StoreKind {
    /// The database `__leanplum.sqlite`.
    public static let leanplumSQLite = StoreKind("leanplum-sqlite")
    /// A file `_lprequests-<application id>`.
    public static let leanplumPlist = StoreKind("leanplum-plist")
    /// Preferences of an app with Leanplum's among them.
    public static let leanplumUserDefaults = StoreKind("leanplum-userdefaults")
}
