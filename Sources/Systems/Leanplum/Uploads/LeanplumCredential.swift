import Telemetry

/// What an operator gives so that an application takes records: its id, and its access keys for data of released apps and of
/// apps in development.
///
/// - In the file: `{"leanplum":{"<app id>":{"productionKey":…,"developmentKey":…}}}`. The app `*`, for records that name
///   none, needs an `appId`; any other may have one, if the record names the app by another word.
/// - In the environment: `PINGFERRY_LEANPLUM_APP_ID`, `PINGFERRY_LEANPLUM_PRODUCTION_KEY` and
///   `PINGFERRY_LEANPLUM_DEVELOPMENT_KEY`, the application of records that name it, and of those that name none.
enum LeanplumCredential {
    /// The application id, `app_…`: in the file and in a credential.
    static let appID = "appId"
    /// In a credential, the access key that goes with the record.
    static let key = "key"
    /// In the file, the access key for data of released apps.
    static let productionKey = "productionKey"
    /// In the file, the access key for data of apps in development.
    static let developmentKey = "developmentKey"
    /// The name of an app that stands for every app.
    static let anyApp = "*"

    /// The variables of the environment.
    enum Variable {
        static let appID = "PINGFERRY_LEANPLUM_APP_ID"
        static let productionKey = "PINGFERRY_LEANPLUM_PRODUCTION_KEY"
        static let developmentKey = "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY"
    }
}

extension CredentialFormat {
    /// The credentials of Leanplum's applications.
    static let leanplum = CredentialFormat(
        variablesHelp: "\(LeanplumCredential.Variable.appID) with \(LeanplumCredential.Variable.productionKey), "
            + LeanplumCredential.Variable.developmentKey,
        entryHelp: #""leanplum": {"<app id>": {"productionKey": …, "developmentKey": …}}"#,
        entry: .object([LeanplumCredential.appID, LeanplumCredential.productionKey, LeanplumCredential.developmentKey]),
        complete: { LeanplumCredential.completed($0, app: $1) },
        variables: { LeanplumCredential.variables(in: $0) },
        merge: { LeanplumCredential.merge($0, into: &$1) },
        account: LeanplumUploads.account(of:using:),
        credential: { LeanplumCredential.credential(of: $0, among: $1) },
        nameToSet: { LeanplumCredential.nameToSet($0) })
}

extension LeanplumCredential {
    /// An entry of the file with its application id, which is the name of the app unless the entry has another.
    fileprivate static func completed(
        _ values: [String: String], app name: String
    ) -> Result<[String: String], CredentialFormat.EntryError> {
        guard let id = values[appID] ?? (name == anyApp ? nil : name) else {
            return .failure(CredentialFormat.EntryError(appID, "missing"))
        }
        return .success(values.merging([appID: id]) { _, id in id })
    }

    /// Without an application id, the keys belong to nothing and say nothing.
    fileprivate static func variables(in environment: [String: String]) -> [String] {
        guard environment[Variable.appID]?.isEmpty == false else { return [] }
        return [Variable.appID, Variable.productionKey, Variable.developmentKey].filter { environment[$0] != nil }
    }

    /// The keys of the environment go before those that the file has for the same application.
    fileprivate static func merge(
        _ environment: [String: String], into accounts: inout CredentialFormat.Accounts
    ) {
        guard let id = environment[Variable.appID], !id.isEmpty else { return }
        for name in [id, anyApp] {
            var app = accounts[name].flatMap { $0[appID] == id ? $0 : nil } ?? [appID: id]
            if let key = environment[Variable.productionKey] { app[productionKey] = key }
            if let key = environment[Variable.developmentKey] { app[developmentKey] = key }
            accounts[name] = app
        }
    }

    fileprivate static func credential(
        of account: Account, among accounts: CredentialFormat.Accounts
    ) -> Credential? {
        guard let app = app(named: account.name, among: accounts), let id = app[appID],
            let key = app[keyName(of: account)]
        else { return nil }
        return Credential([appID: id, Self.key: key], secrets: [Self.key])
    }

    /// The application of records that name an app, or none. No record goes to another application than the one it names.
    private static func app(named name: String, among accounts: CredentialFormat.Accounts) -> [String: String]? {
        if let app = accounts[name] { return app }
        guard let app = accounts[anyApp], name.isEmpty || name == app[appID] else { return nil }
        return app
    }

    /// The name in the file of the key that records of an account need.
    private static func keyName(of account: Account) -> String {
        account.variant == Account.development ? developmentKey : productionKey
    }

    fileprivate static func nameToSet(_ account: Account) -> String {
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
