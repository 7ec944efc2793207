import Telemetry

/// Leanplum, the service behind Mozilla Mobile Analytics.
///
/// Its SDK queues requests and sends them in `multi` calls.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload".
public struct LeanplumSystem: TelemetrySystem {
    /// Creates the system.
    public init() {}

    /// The name `leanplum`.
    public let name = SystemName.leanplum
    /// The format of the databases of SDKs since 2.0.3, and of the property lists of older SDKs.
    public let stores: [any StoreFormat] = [LeanplumStores()]
    /// The format of captured calls to Leanplum's servers.
    public let requests: any RequestFormat = LeanplumCalls()
    /// The format of `multi` calls and their answers.
    public let uploads: any UploadFormat = LeanplumUploads()
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat([
        (["multi"], LeanplumFields.payload.pseudonyms)
    ])
    /// The meanings of actions, events and user attributes.
    public let vocabulary: (any Vocabulary)? = LeanplumVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = LeanplumRows()
    /// The value `nil`, because calls are not numbered.
    public let sequence: SequenceFormat? = nil
    /// The value `nil`, because Mozilla's pipeline does not receive the uploads.
    public let liveTables: (any LiveTableFormat)? = nil
    /// The year 2012, in which the first version of the SDK was published.
    public let firstYear = 2012
}

extension SystemName {
    /// The name of Leanplum.
    public static let leanplum = SystemName("leanplum")
}

extension StoreKind {
    /// The database `__leanplum.sqlite`.
    public static let leanplumSQLite = StoreKind("leanplum-sqlite")
    /// The file `_lprequests-<application id>`.
    public static let leanplumPlist = StoreKind("leanplum-plist")
    /// The preferences of an app, if they contain Leanplum's keys.
    public static let leanplumUserDefaults = StoreKind("leanplum-userdefaults")
}
