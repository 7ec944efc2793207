import Bytes
import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Leanplum

/// Tests uploads, their accounts and their answers.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.2 to C.5.
@Suite struct LeanplumUploadTests {
    private let uploads: any UploadFormat = LeanplumSystem().uploads
    private let credential = Credential(["appId": "app_X", "key": "prod key"], secrets: ["key"])
    private let now = Timestamp(clamping: 1_580_086_400_012)

    private func account(_ name: String, isDevelopment: Bool = false) -> Account {
        Account(system: .leanplum, name: name, variant: isDevelopment ? Account.development : "")
    }

    private func record(_ payload: String, app: String? = nil, store: StoreKind = .leanplumSQLite) -> Record {
        Record(
            system: .leanplum, type: "multi", id: PayloadHash.id(of: Array(payload.utf8)), app: App(id: app),
            target: .leanplum, payload: Array(payload.utf8),
            source: Source(capture: "c", path: "p", store: store, index: 0))
    }

    private func content(_ payload: String, _ credential: Credential? = nil) throws -> RequestContent {
        try uploads.content(
            of: Array(payload.utf8), credential: credential ?? self.credential, now: now)
    }

    @Test func bodyIsFormWithListAndAccessKey() throws {
        let content = try content(#"{"data":[{"action":"start"},{"a":"é &=+~","sdkVersion":"2.7.2"}]}"#)
        #expect(uploads.method == "POST")
        #expect(!content.isCompressed)
        #expect(content.headers == [HeaderField("Content-Type", "application/x-www-form-urlencoded")])
        #expect(
            String(decoding: content.body, as: UTF8.self)
                == "action=multi&appId=app_X&client=ios&clientKey=prod%20key&data=%7B%22data%22%3A%5B%7B%22action%22%3A%22"
                + "start%22%7D%2C%7B%22a%22%3A%22%C3%A9%20%26%3D%2B~%22%2C%22sdkVersion%22%3A%222.7.2%22%7D%5D%7D"
                + "&sdkVersion=2.7.2&time=1580086400.012000")
    }

    @Test(arguments: [#"{"data":[{}]}"#, #"{"data":[{"sdkVersion":7}]}"#, #"{"data":[{"sdkVersion":"1"},{}]}"#])
    func missingVersionOfLastRequestIsOmitted(payload: String) throws {
        #expect(!String(decoding: try content(payload).body, as: UTF8.self).contains("&sdkVersion="))
    }

    @Test(arguments: ["", "[]", "{}", #"{"data":[]}"#, #"{"data":{}}"#])
    func payloadWithoutListIsRejected(payload: String) {
        #expect(throws: RequestError.payload) { try content(payload) }
    }

    @Test(arguments: [Credential.none, Credential(["beaconKey": "k", "token": "t"], secrets: ["beaconKey"])])
    func credentialOfAnotherSystemIsRejected(credential: Credential) {
        #expect(throws: RequestError.otherCredential) { try content(#"{"data":[{}]}"#, credential) }
    }

    @Test(
        arguments: [
            (#"{"data":[{"devMode":true},{"devMode":false}]}"#, "app_1", "app_1", true),
            (#"{"data":[{"devMode":false}]}"#, "app_1", "app_1", false), (#"{"data":[{"devMode":1}]}"#, nil, "", false),
            (#"{"data":[{}]}"#, nil, "", false), (#"{"data":[]}"#, nil, "", false), ("{", nil, "", false),
        ] as [(String, String?, String, Bool)])
    func accountIsApplicationAndMode(payload: String, app: String?, name: String, isDevelopment: Bool) {
        var document = JSONDocument()
        #expect(
            uploads.account(of: record(payload, app: app), using: &document)
                == account(name, isDevelopment: isDevelopment))
    }

    @Test("The bundle id in a record of a database is not an application id")
    func accountIsNotBundleID() {
        var document = JSONDocument()
        func name(_ app: String, _ store: StoreKind) -> String? {
            uploads.account(of: record(#"{"data":[{}]}"#, app: app, store: store), using: &document)?.name
        }
        #expect(name("org.mozilla.ios.Firefox", .leanplumSQLite) == "")
        #expect(name("app.example.reader", .leanplumSQLite) == "")
        #expect(name("app_6AoABC", .leanplumSQLite) == "app_6AoABC")
        #expect(name("6AoABC", .leanplumPlist) == "6AoABC")
        #expect(name("6AoABC", .leanplumUserDefaults) == "6AoABC")
    }

    // MARK: Answers

    private func outcome(_ status: Int, _ body: String, isWhole: Bool = true) -> Outcome {
        uploads.outcome(of: Answer(status: status, body: Array(body.utf8), isWhole: isWhole))
    }

    @Test func onlyStatus200ConfirmsCall() {
        #expect(outcome(200, "") == .delivered(status: 200))
        #expect(outcome(200, #"{"response":[{"success":true}]}"#) == .delivered(status: 200))
        #expect(outcome(201, "") == .refused(status: 201, reason: "the server rejects the request"))
        for status in [0, 200, 201, 204, 400] {
            #expect(LeanplumSystem().requests.isDelivered(status: status) == (status == 200))
        }
    }

    @Test func failedRequestsAreNoted() {
        let body =
            #"{"response":[{"success":false,"error":{"message":"Bad event"}},{"success":true},{"success":false}]}"#
        #expect(outcome(200, body) == .delivered(status: 200, note: "2 of the events not successful: Bad event"))
    }

    @Test func otherElementsAreIgnored() {
        let body = #"{"response":[null,{"success":false,"error":{"message":"Bad event"}},"x"]}"#
        #expect(outcome(200, body) == .delivered(status: 200, note: "1 of the events not successful: Bad event"))
    }

    @Test(arguments: ["apiHost", "apiPath", "devServerHost"])
    func movedServerDidNotAcceptCall(key: String) {
        guard case .retryLater(200, _) = outcome(200, #"{"response":[{"success":false,"\#(key)":"x"}]}"#) else {
            Issue.record("the call can be retried")
            return
        }
        #expect(outcome(200, #"{"response":[{"success":true,"\#(key)":"x"}]}"#) == .delivered(status: 200))
    }

    @Test(arguments: ["App not found", "Invalid access key: k", "Development mode requested but not permitted"])
    func wrongKeyIsNotFaultOfRecord(message: String) {
        let body = #"{"response":[{"success":false,"error":{"message":"\#(message)"}}]}"#
        #expect(outcome(400, body) == .credentialWrong(status: 400, reason: message))
        #expect(
            outcome(400, body.replacing(message, with: "Too many events"))
                == .refused(status: 400, reason: "Too many events"))
    }

    @Test func truncatedAnswerMeansUnknownOutcome() {
        guard case .unknown = outcome(200, #"{"response":["#, isWhole: false) else {
            Issue.record("the call may have been delivered")
            return
        }
    }

    // MARK: Credentials

    private var format: any CredentialFormat { get throws { try #require(uploads.credentials) } }

    @Test func nameOfEntryIsDefaultApplicationID() throws {
        #expect(
            try format.completed(["productionKey": "p"], ofAccount: "app_1") == [
                "appId": "app_1", "productionKey": "p",
            ])
        #expect(
            try format.completed(["appId": "app_2", "productionKey": "p"], ofAccount: "org.example")
                == ["appId": "app_2", "productionKey": "p"])
        let fault = #expect(throws: CredentialEntryError.self) {
            try format.completed(["productionKey": "secret"], ofAccount: "*")
        }
        #expect(fault?.key == "appId" && fault?.words == "missing")
    }

    @Test func keyDependsOnModeAndApplication() throws {
        let accounts: AccountValues = [
            "org.example": ["appId": "app_1", "productionKey": "p-1", "developmentKey": "d-1"],
            "*": ["appId": "app_2", "productionKey": "p-2"],
        ]
        func values(_ name: String, isDevelopment: Bool = false) throws -> [String?]? {
            try format.credential(of: account(name, isDevelopment: isDevelopment), among: accounts).map {
                [$0["appId"], $0["key"]] + $0.secrets
            }
        }
        #expect(try values("org.example") == ["app_1", "p-1", "p-1"])
        #expect(try values("org.example", isDevelopment: true) == ["app_1", "d-1", "d-1"])
        #expect(try values("") == ["app_2", "p-2", "p-2"])
        #expect(try values("app_2") == ["app_2", "p-2", "p-2"])
        #expect(try values("", isDevelopment: true) == nil)
        // Records are never sent to another application than the one they name.
        #expect(try values("app_3") == nil)
    }

    @Test func environmentTakesPrecedenceForItsApplication() throws {
        let environment = [
            "PINGFERRY_LEANPLUM_APP_ID": "app_9", "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY": "d-9",
            "PINGFERRY_LEANPLUM_PRODUCTION_KEY": "",
        ]
        var accounts: AccountValues = [
            "app_9": ["appId": "app_9", "productionKey": "p-1", "developmentKey": "d-1"],
            "*": ["appId": "app_2", "productionKey": "p-2"],
        ]
        try format.merge(environment, into: &accounts)
        #expect(accounts["app_9"] == ["appId": "app_9", "productionKey": "p-1", "developmentKey": "d-9"])
        #expect(accounts["*"] == ["appId": "app_9", "developmentKey": "d-9"])
        #expect(
            try format.variables(in: environment) == [
                "PINGFERRY_LEANPLUM_APP_ID", "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY",
            ])
    }

    @Test(arguments: [nil, ""])
    func keysWithoutApplicationIDAreIgnored(id: String?) throws {
        var environment = ["PINGFERRY_LEANPLUM_PRODUCTION_KEY": "not a key\n"]
        environment["PINGFERRY_LEANPLUM_APP_ID"] = id
        var accounts: AccountValues = [:]
        try format.merge(environment, into: &accounts)
        #expect(accounts.isEmpty)
        #expect(try format.variables(in: environment).isEmpty)
    }

    @Test func missingSettingIsNamed() throws {
        #expect(
            try format.settingHint(for: account("", isDevelopment: true))
                == "PINGFERRY_LEANPLUM_APP_ID and PINGFERRY_LEANPLUM_DEVELOPMENT_KEY, or "
                + #""leanplum": {"*": {"appId": …, "developmentKey": …}} in the credentials file"#)
        #expect(
            try format.settingHint(for: account("app_1"))
                == "PINGFERRY_LEANPLUM_APP_ID=app_1 and PINGFERRY_LEANPLUM_PRODUCTION_KEY, or "
                + #""leanplum": {"app_1": {"productionKey": …}} in the credentials file"#)
    }
}
