import Files
import Foundation
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests the sources of credentials, and that credentials are never shown.
@Suite struct CredentialTests {
    private let contents = """
        {"sift": {"4e1a50": "beacon-1", "a/b": "beacon-2"},
         "leanplum": {"org.example": {"appId": "app_1", "productionKey": "prod-1", "developmentKey": "dev-1"},
                      "*": {"appId": "app_2", "productionKey": "prod-2"}}}
        """

    private func sift(_ name: String) -> Account { Account(system: .sift, name: name) }
    private func leanplum(_ name: String, development: Bool = false) -> Account {
        Account(system: .leanplum, name: name, variant: development ? Account.development : "")
    }

    @Test func fileContainsAccountsAndApps() throws {
        let file = try CredentialFile(Array(contents.utf8), path: "c", knowing: Systems.table)
        let credentials = try Credentials(file: file, environment: [:], of: Systems.table)
        #expect(credentials.credential(for: sift("4e1a50")) == .sift(beaconKey: "beacon-1"))
        #expect(credentials.credential(for: sift("a/b")) == .sift(beaconKey: "beacon-2"))
        #expect(credentials.credential(for: sift("other")) == nil)
        #expect(credentials.credential(for: leanplum("org.example")) == .leanplum(appID: "app_1", key: "prod-1"))
        #expect(
            credentials.credential(for: leanplum("org.example", development: true))
                == .leanplum(appID: "app_1", key: "dev-1"))
        #expect(credentials.credential(for: leanplum("")) == .leanplum(appID: "app_2", key: "prod-2"))
        #expect(credentials.credential(for: leanplum("", development: true)) == nil)
        #expect(credentials.credential(for: Account(system: .mozilla, name: "")) == Credential.none)
    }

    @Test func memberWithNumberSignIsAComment() throws {
        let text = try String(contentsOfFile: sample("nightly/credentials.json"), encoding: .utf8)
        let file = try CredentialFile(Array(text.utf8), path: "c", knowing: Systems.table)
        #expect(file.accounts.isEmpty)
        let used = text.replacing("# ", with: "").replacing("<beacon key>", with: "a").replacing("<key>", with: "b")
        let accounts = try CredentialFile(Array(used.utf8), path: "c", knowing: Systems.table).accounts
        #expect(accounts.keys.sorted { $0.description < $1.description } == [.leanplum, .sift])
    }

    @Test func environmentOverridesFile() throws {
        let file = try CredentialFile(Array(contents.utf8), path: "c", knowing: Systems.table)
        let environment = [
            "PINGFERRY_SIFT_KEY_4e1a50": "beacon-9", "PINGFERRY_SIFT_KEY_new": "beacon-8",
            "PINGFERRY_LEANPLUM_APP_ID": "app_9", "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY": "dev-9",
        ]
        let credentials = try Credentials(file: file, environment: environment, of: Systems.table)
        #expect(credentials.credential(for: sift("4e1a50")) == .sift(beaconKey: "beacon-9"))
        #expect(credentials.credential(for: sift("new")) == .sift(beaconKey: "beacon-8"))
        #expect(credentials.credential(for: leanplum("org.example")) == .leanplum(appID: "app_1", key: "prod-1"))
        #expect(
            credentials.credential(for: leanplum("", development: true)) == .leanplum(appID: "app_9", key: "dev-9"))
        #expect(credentials.credential(for: leanplum("")) == nil)
    }

    @Test func credentialOfAnotherAppIsNotUsed() throws {
        let file = try CredentialFile(
            Array(
                #"{"leanplum":{"app_1":{"developmentKey":"dev-1"},"*":{"appId":"app_2","productionKey":"p-2"}}}"#.utf8),
            path: "c", knowing: Systems.table)
        let environment = ["PINGFERRY_LEANPLUM_APP_ID": "app_1", "PINGFERRY_LEANPLUM_PRODUCTION_KEY": "p-1"]
        let alone = try Credentials(file: file, environment: [:], of: Systems.table)
        #expect(alone.credential(for: leanplum("app_1")) == nil)
        #expect(alone.credential(for: leanplum("app_1", development: true)) == .leanplum(appID: "app_1", key: "dev-1"))
        #expect(alone.credential(for: leanplum("app_2")) == .leanplum(appID: "app_2", key: "p-2"))
        #expect(alone.credential(for: leanplum("app_3")) == nil)
        let both = try Credentials(file: file, environment: environment, of: Systems.table)
        #expect(both.credential(for: leanplum("app_1")) == .leanplum(appID: "app_1", key: "p-1"))
        #expect(both.credential(for: leanplum("app_1", development: true)) == .leanplum(appID: "app_1", key: "dev-1"))
        #expect(both.credential(for: leanplum("app_2")) == nil)
        #expect(both.credential(for: leanplum("app_3")) == nil)
    }

    @Test func missingCredentialIsNamed() {
        let credentials = Credentials(of: Systems.table)
        #expect(!credentials.hasCredential(for: sift("4e1a50")))
        #expect(credentials.settingHint(for: sift("4e1a50")).hasPrefix("PINGFERRY_SIFT_KEY_4e1a50, or "))
        #expect(credentials.settingHint(for: sift("a-b")) == #""sift": {"a-b": …} in the credentials file"#)
        #expect(
            credentials.settingHint(for: leanplum("", development: true))
                == "PINGFERRY_LEANPLUM_APP_ID and PINGFERRY_LEANPLUM_DEVELOPMENT_KEY, or "
                + #""leanplum": {"*": {"appId": …, "developmentKey": …}} in the credentials file"#)
        #expect(
            credentials.settingHint(for: leanplum("app_1"))
                == "PINGFERRY_LEANPLUM_APP_ID=app_1 and PINGFERRY_LEANPLUM_PRODUCTION_KEY, or "
                + #""leanplum": {"app_1": {"productionKey": …}} in the credentials file"#)
    }

    @Test(arguments: [
        ("", "c: invalid JSON at byte 0"), ("[]", "c: the file is not a JSON object"),
        (#"{"mozilla":{}}"#, "c: mozilla: only sift and leanplum have credentials"),
        (#"{"sift":["secret"]}"#, "c: sift is not a JSON object"),
        (#"{"sift":{"a":1}}"#, "c: sift.a must be printable ASCII text without spaces"),
        (#"{"sift":{"a":"secret é"}}"#, "c: sift.a must be printable ASCII text without spaces"),
        (#"{"sift":{"a":"secret\r\nX: y"}}"#, "c: sift.a must be printable ASCII text without spaces"),
        (#"{"sift":{"a":""}}"#, "c: sift.a must be printable ASCII text without spaces"),
        (#"{"leanplum":{"*":{"productionKey":"secret"}}}"#, "c: leanplum.*.appId missing"),
        (#"{"leanplum":{"x":{"appId":"a","key":"secret"}}}"#, "c: leanplum.x.key: unknown key"),
        (#"{"sift":{"a":"secret"},"sift":{}}"#, "c: invalid JSON at byte 23"),
    ])
    func malformedFileIsRejectedWithoutShowingValues(contents: String, message: String) throws {
        let error = #expect(throws: CredentialError.self) {
            try CredentialFile(Array(contents.utf8), path: "c", knowing: Systems.table)
        }
        #expect(error?.description == message)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func invalidVariableIsRejectedWithoutShowingValue() {
        let error = #expect(throws: CredentialError.self) {
            try Credentials(file: nil, environment: ["PINGFERRY_SIFT_KEY_a": "secret\n"], of: Systems.table)
        }
        #expect(error?.description == "PINGFERRY_SIFT_KEY_a must be printable ASCII text without spaces")
    }

    @Test(arguments: [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o660, false), (0o620, false)])
    func fileAccessibleToOthersIsRejected(mode: Int, isAccepted: Bool) throws {
        let folder = try TemporaryFolder()
        let path = try folder.put(contents, "credentials.json", mode: mode)
        if isAccepted {
            #expect(throws: Never.self) { try CredentialFile(path: path, knowing: Systems.table) }
        } else {
            #expect(throws: CredentialError.accessibleToOthers(path)) {
                try CredentialFile(path: path, knowing: Systems.table)
            }
        }
    }

    @Test func permissionsInProtectedFolderAreNotChecked() throws {
        let folder = try TemporaryFolder()
        let path = try folder.put(contents, "credentials.json", mode: 0o440)
        #expect(throws: Never.self) {
            try CredentialFile(path: path, knowing: Systems.table, protectedFolder: folder.path)
        }
        for other in ["", "/nonexistent", folder.path + "/deeper"] {
            #expect(throws: CredentialError.accessibleToOthers(path)) {
                try CredentialFile(path: path, knowing: Systems.table, protectedFolder: other)
            }
        }
    }

    @Test func missingFileIsReported() throws {
        let error = #expect(throws: CredentialError.self) {
            try CredentialFile(path: "/nonexistent/c", knowing: Systems.table)
        }
        #expect(error?.description == "cannot open /nonexistent/c: No such file or directory")
    }

    @Test func descriptionsContainNoSecret() throws {
        let secrets = #"{"sift":{"a":"secret"},"leanplum":{"a":{"productionKey":"secret"}}}"#
        let all: [Any] = [
            Credential.sift(beaconKey: "secret"), Credential.leanplum(appID: "a", key: "secret"),
            try CredentialFile(Array(secrets.utf8), path: "c", knowing: Systems.table),
            try Credentials(
                file: CredentialFile(Array(secrets.utf8), path: "c", knowing: Systems.table), environment: [:],
                of: Systems.table),
            try #require(Proxy("http://user:secret@proxy:3128")),
        ]
        for value in all {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!dumped.contains("secret") && !"\(value)".contains("secret"))
            #expect(!String(reflecting: value).contains("secret"))
        }
    }
}
