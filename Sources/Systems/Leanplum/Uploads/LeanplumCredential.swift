import Bytes
import Telemetry

/// The credentials of a Leanplum application: its id, and its access keys for released apps and for apps in
/// development.
///
/// - In the file: `{"leanplum":{"<app id>":{"productionKey":…,"developmentKey":…}}}`. The entry `*` applies to records
///   that name no app, and must contain an `appId`. Any other entry can contain an `appId` if records name the app
///   differently.
/// - In the environment: `PINGFERRY_LEANPLUM_APP_ID`, `PINGFERRY_LEANPLUM_PRODUCTION_KEY` and
///   `PINGFERRY_LEANPLUM_DEVELOPMENT_KEY`. They apply to records that name this application, and to records that name
///   no app.
enum LeanplumCredential {
    /// The name of the application id, such as `app_…`, in the file and in a credential.
    static let appID: CapturedText = "appId"
    /// The prefix of Leanplum's application ids, which distinguishes them from bundle ids.
    static let appIDPrefix = "app_"
    /// The name of the access key in a credential.
    static let key: CapturedText = "key"
    /// The name that the credentials file uses for the access key for released apps.
    static let productionKey: CapturedText = "productionKey"
    /// The name that the credentials file uses for the access key for apps in development.
    static let developmentKey: CapturedText = "developmentKey"
    /// The name of the entry for records that name no app.
    static let anyApp: CapturedText = "*"

    enum Variable {
        static let appID = "PINGFERRY_LEANPLUM_APP_ID"
        static let productionKey = "PINGFERRY_LEANPLUM_PRODUCTION_KEY"
        static let developmentKey = "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY"
    }
}

extension CredentialFormat {
    static let leanplum = CredentialFormat(
        variablesHelp: "\(LeanplumCredential.Variable.appID) with \(LeanplumCredential.Variable.productionKey), "
            + LeanplumCredential.Variable.developmentKey,
        entryHelp: #""leanplum": {"<app id>": {"productionKey": "<key>", "developmentKey": "<key>"}}"#,
        entry: .object([LeanplumCredential.appID, LeanplumCredential.productionKey, LeanplumCredential.developmentKey]),
        complete: { LeanplumCredential.completed($0, app: $1) },
        variables: { LeanplumCredential.variables(in: $0) },
        merge: { LeanplumCredential.merge($0, into: &$1) },
        account: LeanplumUploads.account(of:using:),
        credential: { LeanplumCredential.credential(of: $0, among: $1) },
        settingHint: { LeanplumCredential.settingHint($0) })
}

extension LeanplumCredential {
    /// Returns the values of the file entry `name`, completed with the application id.
    ///
    /// If the entry contains no application id, `name` is the id.
    fileprivate static func completed(
        _ values: [CapturedText: String], app name: String
    ) -> Result<[CapturedText: String], CredentialFormat.EntryError> {
        guard let id = values[appID] ?? (anyApp == name ? nil : name) else {
            return .failure(CredentialFormat.EntryError(appID.string, "missing"))
        }
        return .success(values.merging([appID: id]) { _, id in id })
    }

    /// Returns the names of the environment variables that are set.
    ///
    /// Returns an empty array if the application id is not set.
    fileprivate static func variables(in environment: [String: String]) -> [String] {
        guard environment[Variable.appID]?.isEmpty == false else { return [] }
        return [Variable.appID, Variable.productionKey, Variable.developmentKey].filter {
            environment[$0]?.isEmpty == false
        }
    }

    /// Adds the keys from the environment to `accounts`.
    ///
    /// They take precedence over keys of the same application in the file.
    fileprivate static func merge(_ environment: [String: String], into accounts: inout CredentialFormat.Accounts) {
        guard let id = environment[Variable.appID], !id.isEmpty else { return }
        for name in [CapturedText(id), anyApp] {
            var app = accounts[name].flatMap { $0[appID] == id ? $0 : nil } ?? [appID: id]
            if let key = environment[Variable.productionKey], !key.isEmpty { app[productionKey] = key }
            if let key = environment[Variable.developmentKey], !key.isEmpty { app[developmentKey] = key }
            accounts[name] = app
        }
    }

    fileprivate static func credential(of account: Account, among accounts: CredentialFormat.Accounts) -> Credential? {
        guard let app = app(named: account.name, among: accounts), let id = app[appID],
            let key = app[keyName(of: account)]
        else { return nil }
        return Credential([appID: id, Self.key: key], secrets: [Self.key])
    }

    /// Returns the values of the application that is used for records with the application name `name`.
    ///
    /// Returns `nil` if there is no such application. A record that names an application is never sent to a different
    /// application.
    private static func app(named name: String, among accounts: CredentialFormat.Accounts) -> [CapturedText: String]? {
        if let app = accounts[name] { return app }
        guard let app = accounts[anyApp], name.isEmpty || app[appID].map({ CapturedText($0) == name }) == true else {
            return nil
        }
        return app
    }

    /// Returns the name, in the file, of the access key that `account` needs.
    private static func keyName(of account: Account) -> CapturedText {
        account.isDevelopment ? developmentKey : productionKey
    }

    fileprivate static func settingHint(_ account: Account) -> String {
        let key = keyName(of: account)
        let variable = key == developmentKey ? Variable.developmentKey : Variable.productionKey
        guard !account.name.isEmpty else {
            return "\(Variable.appID) and \(variable), or \"\(SystemName.leanplum)\": {\"\(anyApp)\": "
                + "{\"\(appID)\": …, \"\(key)\": …}} in the credentials file"
        }
        return "\(Variable.appID)=\(account.name) and \(variable), or \"\(SystemName.leanplum)\": "
            + "{\"\(account.name)\": {\"\(key)\": …}} in the credentials file"
    }
}
