import Foundation
import TestSupport
import Testing

/// Tests how the program prints records whose client or type contains invisible characters.
@Suite struct InvisibleCharacterTests {
    @Test func invisibleCharactersAreEscaped() async throws {
        let client = "c\u{9B}2J\u{7F}\u{202E}\u{200B}\u{2028}\u{FEFF}\u{E0041}"
        let folder = try TemporaryFolder()
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":400,"text":"no","times":1}]"#)
        let bundle = try await Sample.bundle(
            [Sample.ping(1, client: client), Sample.ping(2, client: client)], at: folder("b.tar.zst"))
        let common = ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone]
        let address = "mozilla=\(server.address)"
        let plan = try await Uploader(["send", "--dry-run"] + common + [bundle]).finish()
        let planned = try await Uploader(["send", "--dry-run", "--json"] + common + [bundle]).finish()
        let job = try await Uploader(["send", "--log-json", "--endpoint", address] + common + [bundle]).finish()
        #expect(job.status == 1)
        let status = try await Uploader(["status"] + common).finish()
        let known = try await Uploader(["status", "--json"] + common).finish()
        for (finished, escape) in [
            (plan, #"\u{202E}"#), (planned, #"\u202e"#), (job, #"\u202e"#), (status, #"\u{202E}"#), (known, #"\u202e"#),
        ] {
            let text = finished.text + finished.errors
            #expect(text.contains(escape), "\(text)")
            let hidden = text.unicodeScalars.filter {
                [.control, .format, .lineSeparator].contains($0.properties.generalCategory) && $0 != "\n"
            }
            #expect(hidden.isEmpty, "\(hidden)")
        }
        let lines = job.errorLines.filter { $0.contains(#""client""#) }
        #expect(lines.count == 2)
        for line in lines {
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect((event["client"] as? String).map { Array($0.utf8) } == Array(client.utf8))
        }
    }
}
