import Foundation
import TestSupport
import Testing

/// Tests that a credential is never shown if a server repeats it in an answer.
@Suite struct CredentialEchoTests {
    private static let key = "prod_Xq4/Lw9+Tt7zBv"

    @Test(
        arguments: [
            #"\\u0070rod_Xq4\\/Lw9+Tt7zBv"#, "prod_Xq4%2fLw9%2BTt7zBv", "prod%5FXq4%252FLw9%252BTt7zBv", key,
            Data(key.utf8).base64EncodedString(),
        ], [400, 401, 503, 200])
    func repeatedCredentialIsMaskedEverywhere(form: String, status: Int) async throws {
        let folder = try TemporaryFolder()
        let server = try LoopbackServer()
        let text = #"{\"response\":[{\"success\":false,\"error\":{\"message\":\"bad key \#(form)\"}}]}"#
        try await server.setRules(#"[{"status":\#(status),"text":"\#(text)"}]"#)
        let bundle = try await Sample.bundle(
            [Sample.leanplum([#"{"action":"start"}"#]), Sample.sift([#"{"time":1}"#])], at: folder("b.tar.zst"))
        let ledger = folder("ledger.sqlite")
        let finished = try await Uploader(
            [
                "send", "--ledger", ledger, "--log-json", "--attempts", "1", "--endpoint",
                "leanplum=\(server.address)", "--endpoint", "sift=\(server.address)", bundle,
            ],
            environment: [
                "PINGFERRY_LEANPLUM_APP_ID": "app_1", "PINGFERRY_LEANPLUM_PRODUCTION_KEY": Self.key,
                "PINGFERRY_SIFT_KEY_acme": Self.key,
            ]
        ).finish()
        let refusals = try await upload("status", "--refused", "--ledger", ledger)
        let all = try await upload("status", "--json", "--ledger", ledger)
        let database = try Data(contentsOf: URL(fileURLWithPath: ledger))
        let log = finished.errors.filter { $0 != "\\" }
        for text in [log, finished.text, refusals.text, all.text, String(decoding: database, as: UTF8.self)] {
            for part in ["Xq4", "Lw9", "Tt7zBv", "0070rod", "cHJvZF"] { #expect(!text.contains(part), "\(text)") }
        }
        #expect(finished.errors.contains("bad key ***"))
    }
}
