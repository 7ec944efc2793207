import Bytes
import JSONText
import Telemetry

/// The format of uploads to Leanplum.
///
/// Each upload is a `multi` call of one application.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.2 to C.5.
struct LeanplumUploads: UploadFormat {
    let endpoint = "https://\(LeanplumServer.host)"
    let list: ListFormat? = ListFormat(
        key: LeanplumKeys.data, maximumItems: LeanplumRequests.maximumRequestsPerCall, idKey: LeanplumKeys.requestID,
        changingKey: LeanplumKeys.retryCount)
    let credentials: (any CredentialFormat)? = LeanplumCredential()

    func isTargetPath(_ path: String) -> Bool { path == LeanplumServer.path }

    /// Returns the application of a record.
    ///
    /// The name of the application is empty if the store does not contain it.
    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        let isDevelopment = Self.isDevelopment(record.payload, using: &document)
        return Account(
            system: .leanplum, name: Self.applicationID(of: record) ?? "",
            variant: isDevelopment ? Account.development : "")
    }

    /// Returns Leanplum's id of the application, or `nil` if the store does not contain it.
    private static func applicationID(of record: borrowing Record) -> String? {
        let id = record.app?.id
        // Records of databases have the bundle id of the app if Leanplum's id is unknown.
        if record.source.store == .leanplumSQLite, id?.hasPrefix(LeanplumCredential.appIDPrefix) != true { return nil }
        return id
    }

    /// Returns whether the requests are from an app in development.
    ///
    /// Only the first request is checked, because all requests in a record have the same mode.
    private static func isDevelopment(_ payload: [UInt8], using document: inout JSONDocument) -> Bool {
        guard (try? document.read(payload)) != nil,
            let list = document.value(of: LeanplumKeys.data, in: document.root),
            let first = document.firstElement(of: list),
            let mode = document.value(of: LeanplumKeys.devMode, in: first)
        else { return false }
        return document.kind(of: mode) == .true
    }

    func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        guard let appID = credential[LeanplumCredential.appID], let key = credential[LeanplumCredential.key] else {
            throw .otherCredential
        }
        return try LeanplumForm.content(payload: payload, appID: appID, key: key, now: now)
    }

    func outcome(of answer: Answer) -> Outcome {
        answer.isWhole ? LeanplumAnswer(answer).outcome() : .unknown(reason: "the server's answer was cut short")
    }
}

// MARK: - Form

/// The URL-encoded form that uploads a Leanplum payload, with its fields in alphabetical order.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3.
enum LeanplumForm {
    /// The name of the field that specifies the method of a call.
    static let actionField = "action"
    /// The value of ``actionField`` in a call with stored requests.
    static let multiAction = "multi"
    /// The name of the field that contains the stored requests.
    static let dataField = "data"

    /// Creates the content of a call.
    ///
    /// - Throws: `RequestError.payload` if `payload` is not a non-empty list `{"data":[…]}`.
    static func content(
        payload: [UInt8], appID: String, key: String, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        var form = FormWriter()
        for (name, value) in [(actionField, multiAction), ("appId", appID), ("client", "ios"), ("clientKey", key)] {
            form.append(name.utf8, value.utf8)
        }
        form.append(dataField.utf8, payload)
        if let version = try sdkVersion(of: payload) { form.append("sdkVersion".utf8, version.utf8) }
        form.append("time".utf8, secondsText(for: now).utf8)
        return form.content
    }

    /// Returns the seconds since 1970 with six decimal places, in the format `%f` of the SDK.
    private static func secondsText(for time: Timestamp) -> String {
        let fraction = String(time.milliseconds % 1000)
        return "\(time.milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)000"
    }

    /// Returns the version of the SDK that queued the last request of a payload, or `nil` if the request states none.
    private static func sdkVersion(of payload: [UInt8]) throws(RequestError) -> String? {
        guard let document = try? JSONDocument(payload),
            let data = document.value(of: LeanplumKeys.data, in: document.root),
            let last = document.elements(of: data).last
        else { throw .payload }
        return document.value(of: LeanplumKeys.sdkVersion, .string, in: last).map { document.string(of: $0) }
    }
}

// MARK: - Answers

/// An answer from a Leanplum server to a `multi` call, which contains the result of each request.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.5.
private struct LeanplumAnswer {
    private let answer: Answer
    private var failureCount = 0
    private var firstFailureMessage: String?
    private var lastMessage: String?
    private var serverHasMoved = false

    /// The keys with which a server reports its new address.
    private static let addressKeys: [JSONKey] = ["apiHost", "apiPath", "devServerHost"]
    /// The prefixes of the error messages after which all further requests of the app would fail.
    private static let permanentFailures = [
        "App not found", "Invalid access key", "Development mode requested but not permitted",
    ]

    /// Parses the body of an answer.
    ///
    /// Elements of `response` that are not objects are ignored.
    init(_ answer: Answer) {
        self.answer = answer
        guard let fields = try? JSONFields(answer.body) else { return }
        for element in fields.objectsIgnoringOthers("response") {
            let text = element.object("error")?.text("message")
            let isPrintable = text?.unicodeScalars.contains { $0.properties.generalCategory != .control } ?? false
            let message = isPrintable ? text : nil
            lastMessage = message
            guard element.boolean("success") == false else { continue }
            failureCount += 1
            if firstFailureMessage == nil { firstFailureMessage = message }
            if Self.addressKeys.contains(where: { element.text($0) != nil }) { serverHasMoved = true }
        }
    }

    /// Returns the outcome for an answer with a system-specific status.
    func outcome() -> Outcome {
        let status = answer.status
        guard status == 200 else {
            let reason = displayText(lastMessage) ?? "the server rejects the request"
            let isPermanent = lastMessage.map { Self.permanentFailures.contains(where: $0.hasPrefix) } ?? false
            return isPermanent
                ? .credentialWrong(status: status, reason: reason) : .refused(status: status, reason: reason)
        }
        if serverHasMoved {
            return .retryLater(
                status: status, reason: "the server names another endpoint; if it moved, give it with --endpoint")
        }
        guard failureCount > 0 else { return .delivered(status: status) }
        let first = displayText(firstFailureMessage).map { ": \($0)" } ?? ""
        return .delivered(status: status, note: "\(failureCount) of the events not successful\(first)")
    }

    /// Returns a message as a printable line, or `nil` if it is empty.
    private func displayText(_ message: String?) -> String? {
        let line = message.map { answer.line($0) } ?? ""
        return line.isEmpty ? nil : line
    }
}

// MARK: - Credentials

/// The credentials of a Leanplum application: its id, and its access keys for released apps and for apps in
/// development.
///
/// - In the file: `{"leanplum":{"<app id>":{"productionKey":…,"developmentKey":…}}}`. The entry `*` applies to records
///   that name no app, and must contain an `appId`. Any other entry can contain an `appId` if records name the app
///   differently.
/// - In the environment: `PINGFERRY_LEANPLUM_APP_ID`, `PINGFERRY_LEANPLUM_PRODUCTION_KEY` and
///   `PINGFERRY_LEANPLUM_DEVELOPMENT_KEY`. They apply to records that name this application, and to records that name
///   no app.
private struct LeanplumCredential: CredentialFormat {
    /// The name of the application id, such as `app_…`, in the file and in a credential.
    static let appID: CapturedText = "appId"
    /// The prefix of Leanplum's application ids, which distinguishes them from bundle ids.
    static let appIDPrefix = "app_"
    /// The name of the access key in a credential.
    static let key: CapturedText = "key"
    /// The name that the credentials file uses for the access key for released apps.
    private static let productionKey: CapturedText = "productionKey"
    /// The name that the credentials file uses for the access key for apps in development.
    private static let developmentKey: CapturedText = "developmentKey"
    /// The name of the entry for records that name no app.
    private static let anyApp: CapturedText = "*"

    private enum Variable {
        static let appID = "PINGFERRY_LEANPLUM_APP_ID"
        static let productionKey = "PINGFERRY_LEANPLUM_PRODUCTION_KEY"
        static let developmentKey = "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY"
    }

    let variablesHelp = "\(Variable.appID) with \(Variable.productionKey), \(Variable.developmentKey)"
    let entryHelp = #""leanplum": {"<app id>": {"productionKey": "<key>", "developmentKey": "<key>"}}"#
    let entry = CredentialEntry.object([appID, productionKey, developmentKey])

    /// Returns the values of the file entry `name`, completed with the application id.
    ///
    /// If the entry contains no application id, `name` is the id.
    func completed(
        _ values: [CapturedText: String], ofAccount name: String
    ) throws(CredentialEntryError) -> [CapturedText: String] {
        guard let id = values[Self.appID] ?? (Self.anyApp == name ? nil : name) else {
            throw CredentialEntryError(Self.appID.string, "missing")
        }
        return values.merging([Self.appID: id]) { _, id in id }
    }

    /// Returns the names of the environment variables that are set.
    ///
    /// Returns an empty array if the application id is not set.
    func variables(in environment: [String: String]) -> [String] {
        guard environment[Variable.appID]?.isEmpty == false else { return [] }
        return [Variable.appID, Variable.productionKey, Variable.developmentKey].filter {
            environment[$0]?.isEmpty == false
        }
    }

    /// Adds the keys from the environment to `accounts`.
    ///
    /// They take precedence over keys of the same application in the file.
    func merge(_ environment: [String: String], into accounts: inout AccountValues) {
        guard let id = environment[Variable.appID], !id.isEmpty else { return }
        for name in [CapturedText(id), Self.anyApp] {
            var app = accounts[name].flatMap { $0[Self.appID] == id ? $0 : nil } ?? [Self.appID: id]
            if let key = environment[Variable.productionKey], !key.isEmpty { app[Self.productionKey] = key }
            if let key = environment[Variable.developmentKey], !key.isEmpty { app[Self.developmentKey] = key }
            accounts[name] = app
        }
    }

    func credential(of account: Account, among accounts: AccountValues) -> Credential? {
        guard let app = Self.app(named: account.name, among: accounts), let id = app[Self.appID],
            let key = app[Self.keyName(of: account)]
        else { return nil }
        return Credential([Self.appID: id, Self.key: key], secrets: [Self.key])
    }

    /// Returns the values of the application that is used for records with the application name `name`.
    ///
    /// Returns `nil` if there is no such application. A record that names an application is never sent to a different
    /// application.
    private static func app(named name: String, among accounts: AccountValues) -> [CapturedText: String]? {
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

    func settingHint(for account: Account) -> String {
        let key = Self.keyName(of: account)
        let variable = key == Self.developmentKey ? Variable.developmentKey : Variable.productionKey
        guard !account.name.isEmpty else {
            return "\(Variable.appID) and \(variable), or \"\(SystemName.leanplum)\": {\"\(Self.anyApp)\": "
                + "{\"\(Self.appID)\": …, \"\(key)\": …}} in the credentials file"
        }
        return "\(Variable.appID)=\(account.name) and \(variable), or \"\(SystemName.leanplum)\": "
            + "{\"\(account.name)\": {\"\(key)\": …}} in the credentials file"
    }
}

/// The format of captured calls to Leanplum.
///
/// The body of a call is a form. If the field `action` is `multi`, the field `data` contains stored requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3; "HTTP Archive (HAR) captures
/// as a source of telemetry", sections C, D and H.
struct LeanplumCalls: RequestFormat {
    let hosts = [CapturedHost(LeanplumServer.host), CapturedHost("www.leanplum.com")]
    let methods = ["POST"]
    let body = CapturedBody.form(
        FormBody(
            selector: LeanplumForm.actionField, selected: LeanplumForm.multiAction, payload: LeanplumForm.dataField,
            otherwise: OtherTraffic("leanplum_single_call", "to Leanplum without stored requests in it")))

    func isUpload(_ parts: [[UInt8]]) -> Bool { parts.count == 1 && parts.begin(with: "api") }

    /// Recognizes a payload by the action of its first request, or returns `nil` for any other line.
    func lineShape(of line: JSONDocument) -> LineShape? {
        guard let items = line.array(LeanplumKeys.data, in: line.root), let first = line.firstElement(of: items),
            line.kind(of: first) == .object, line.value(of: LeanplumKeys.action, in: first) != nil
        else { return nil }
        return .payload(isStoredToo: false)
    }

    /// Returns a record with the requests in the form field `data` of a `multi` call.
    ///
    /// The requests are not regrouped, because the call shows how the SDK grouped them.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B.1 and C.2; "HTTP Archive
    /// (HAR) captures as a source of telemetry", section H.
    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        guard let requests = document.array(LeanplumKeys.data, in: document.root) else {
            throw .invalid("data is no array")
        }
        var findings = Findings()
        for note in document.removeLeanplumCredentials(from: document.root) { findings.note(note) }
        if document.memberCount(of: document.root) > 1 { findings.fault("keys other than data") }
        var clients = ClientTally()
        var version: String?
        for (index, request) in document.elements(of: requests).enumerated() {
            guard document.kind(of: request) == .object else {
                findings.fault("data[\(index)] is no object")
                continue
            }
            for note in document.removeLeanplumCredentials(from: request) { findings.note("\(note)@\(index)") }
            if document.text(LeanplumKeys.action, in: request) == nil { findings.note("missing_action@\(index)") }
            if document.leanplumTime(of: request) == nil { findings.note("bad_time@\(index)") }
            let client = document.text(LeanplumKeys.deviceID, in: request)
            if client == nil { findings.note("missing_device_id@\(index)") }
            clients.count(client)
            version = document.text(LeanplumKeys.versionName, in: request) ?? version
        }
        let payload = document.canonicalBytes(of: document.root)
        return upload.completed(
            Record(
                system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: clients.first,
                time: upload.time,
                app: App(version: version), payload: payload, source: upload.source, notes: findings.notes,
                held: [findings.hold, clients.hold].compactMap(\.self)),
            defaultTarget: .leanplum)
    }
}

/// The host and the path of requests to Leanplum's servers.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.3 and C.5; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum LeanplumServer {
    /// The host to which newer SDKs send requests.
    ///
    /// Older SDKs send them to `www.leanplum.com`.
    static let host = "api.leanplum.com"
    static let path = "/api"
}

extension Target {
    /// The target of all requests.
    ///
    /// Stores do not specify any other target.
    static let leanplum = Target(path: LeanplumServer.path)
}
