import Telemetry

/// Leanplum, the service behind Mozilla Mobile Analytics: requests that its SDK queued, and the `multi` call that sends them.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload".
public struct LeanplumSystem: TelemetrySystem {
    /// Creates the system.
    public init() {}

    /// `leanplum`.
    public let name = SystemName.leanplum
    /// The database of SDKs since 2.0.3, and the property lists of older ones.
    public let stores: StoreFormat? = LeanplumStores.format
    /// The form of captured calls.
    public let requests = LeanplumCalls.format
    /// How a `multi` call is made, and what its answers mean.
    public let uploads = LeanplumUploads.format
    /// The rules by which records get pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat(
        tables: [(["multi"], LeanplumFields.payload.pseudonyms)], path: nil)
    /// The meanings of actions, events and user attributes.
    public let vocabulary: (any Vocabulary)? = LeanplumVocabulary()
    /// How payloads become rows of tables.
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
