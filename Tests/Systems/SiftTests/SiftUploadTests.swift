import Bytes
import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests the requests, credentials and answers in section 8 of "Sift iOS SDK: on-disk store, list request".
@Suite struct SiftUploadTests {
    private let uploads: any UploadFormat = SiftSystem().uploads
    private let now = Timestamp(clamping: 1_580_086_400_012)

    private func account(_ name: String) -> Account { Account(system: .sift, name: name) }

    private func record(_ path: String?, method: String? = nil) -> Record {
        let payload = Array(#"{"data":[{"time":1}]}"#.utf8)
        return Record(
            system: .sift, type: "mobile_events", id: PayloadHash.id(of: payload),
            target: path.map { Target(path: $0, method: method) }, payload: payload,
            source: Source(capture: "c", path: "p", store: .siftQueue, index: 0))
    }

    @Test("A list is sent compressed by PUT, with the beacon key as token")
    func requestContent() throws {
        let payload = Array(#"{"data":[{"time":1}]}"#.utf8)
        let content = try uploads.content(
            of: payload, credential: SiftCredential.credential(beaconKey: "key-123"), now: now)
        #expect(uploads.method == "PUT")
        #expect(content.body == payload)
        #expect(content.isCompressed)
        // The expected value is the output of `printf key-123 | base64`.
        #expect(
            content.headers == [
                HeaderField("Authorization", "Basic a2V5LTEyMw=="), HeaderField("Content-Type", "application/json"),
            ])
    }

    @Test("A credential of another system is rejected")
    func otherCredentials() {
        for credential in [Credential.none, Credential(["key": "k", "appId": "a"], secrets: ["key"])] {
            #expect(throws: RequestError.otherCredential) {
                try uploads.content(of: [], credential: credential, now: now)
            }
        }
    }

    @Test(
        "The account of a record is read from its path",
        arguments: [
            ("/v3/accounts/4e1a50/mobile_events", nil, "4e1a50"), ("/v3/accounts/a%2Fb/mobile_events", "PUT", "a/b"),
            ("/v3/accounts/4e1a50/mobile_events", "POST", nil), ("/v3/accounts/../mobile_events", nil, nil),
            (nil, nil, nil),
        ] as [(String?, String?, String?)])
    func accounts(path: String?, method: String?, name: String?) {
        var document = JSONDocument()
        #expect(uploads.account(of: record(path, method: method), using: &document) == name.map(account))
    }

    @Test("Any path of an account belongs to a record")
    func recordPaths() {
        #expect(uploads.targetNamesRecord(record("/v3/accounts/a/mobile_events")))
        #expect(uploads.targetNamesRecord(record(nil)))
        #expect(uploads.list?.maximumItems == .max)
        #expect(uploads.list?.idKey == nil && uploads.list?.changingKey == nil)
    }

    @Test("Only status 200 confirms a list")
    func answers() {
        #expect(uploads.outcome(of: Answer(status: 200)) == .delivered(status: 200))
        #expect(
            uploads.outcome(of: Answer(status: 201))
                == .refused(status: 201, reason: "the server does not confirm it with status 200"))
        #expect(
            uploads.outcome(of: Answer(status: 400, body: Array("bad\nevent".utf8)))
                == .refused(status: 400, reason: "the server cannot read the request: bad event"))
        for status in [0, 200, 201, 204, 400] {
            #expect(SiftSystem().requests.isDelivered(status: status) == (status == 200))
        }
    }

    // MARK: Credentials

    private var format: any CredentialFormat { get throws { try #require(uploads.credentials) } }

    @Test("An entry of the credentials file is a beacon key")
    func fileEntries() throws {
        guard case .text(let name) = try format.entry else {
            Issue.record("An entry is not a string.")
            return
        }
        let entry = try format.completed([name: "k"], ofAccount: "4e1a50")
        #expect(entry == [name: "k"])
        let credential = try #require(try format.credential(of: account("4e1a50"), among: ["4e1a50": entry]))
        #expect(credential == SiftCredential.credential(beaconKey: "k"))
        #expect(try format.credential(of: account("4E1A50"), among: ["4e1a50": entry]) == nil)
        #expect(try format.credential(of: account(""), among: ["4e1a50": entry]) == nil)
    }

    @Test("The beacon key and its token are secret")
    func secrets() {
        let credential = SiftCredential.credential(beaconKey: "key-123")
        #expect(credential.secrets == ["key-123", "a2V5LTEyMw=="])
        #expect(!"\(credential) \(String(reflecting: credential))".contains("key-123"))
    }

    @Test("Environment variables override the credentials file")
    func environmentVariables() throws {
        let environment = [
            "PINGFERRY_SIFT_KEY_b": "b-2", "PINGFERRY_SIFT_KEY_c": "c-2", "PINGFERRY_SIFT_KEY_d": "",
            "PINGFERRY_SIFT_KE": "x", "PATH": "/bin",
        ]
        var accounts: AccountValues = ["a": ["beaconKey": "a-1"], "b": ["beaconKey": "b-1"]]
        try format.merge(environment, into: &accounts)
        #expect(accounts == ["a": ["beaconKey": "a-1"], "b": ["beaconKey": "b-2"], "c": ["beaconKey": "c-2"]])
        #expect(try format.variables(in: environment) == ["PINGFERRY_SIFT_KEY_b", "PINGFERRY_SIFT_KEY_c"])
    }

    @Test(
        "The variable or file entry to set is named",
        arguments: [
            ("4e1a50", #"PINGFERRY_SIFT_KEY_4e1a50, or "sift": {"4e1a50": …} in the credentials file"#),
            ("a_B9", #"PINGFERRY_SIFT_KEY_a_B9, or "sift": {"a_B9": …} in the credentials file"#),
            ("a-b", #""sift": {"a-b": …} in the credentials file"#),
            ("é", #""sift": {"é": …} in the credentials file"#),
            ("", #""sift": {"": …} in the credentials file"#),
        ])
    func namesToSet(name: String, expected: String) throws {
        #expect(try format.settingHint(for: account(name)) == expected)
    }
}
