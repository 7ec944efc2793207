import Leanplum
import Sift
import Testing

@testable import Delivery
@testable import Telemetry

/// Tests that credentials are masked in all texts that are derived from an answer.
@Suite struct MaskedAnswerTests {
    private static let key = "prod_A9/x+y=Zq7-Lw"
    private static let mask = SecretMask([key])
    private let leanplum: any TelemetrySystem = LeanplumSystem()
    private let sift: any TelemetrySystem = SiftSystem()

    private func outcome(_ status: Int, _ body: String, _ system: any TelemetrySystem, isWhole: Bool = true) -> String {
        var answer = Answer(
            status: status, location: "https://x.example/?k=prod%5fA9%2fx%2By=Zq7-Lw", body: Array(body.utf8),
            isWhole: isWhole)
        answer.secrets = Self.mask
        return "\(AnswerTable.outcome(of: answer, from: system.uploads))"
    }

    @Test func allTextsOfAnAnswerAreMasked() {
        let error =
            #"{"response":[{"success":false,"error":{"message":"Invalid access key: \u0070rod_A9\/x+y=Zq7-Lw"}}]}"#
        for (status, system) in [
            (400, leanplum as any TelemetrySystem), (200, leanplum), (401, leanplum), (503, leanplum), (302, leanplum),
            (400, sift), (401, sift), (500, sift), (302, sift), (407, sift),
        ] {
            let outcome = outcome(status, error, system)
            #expect(outcome.contains("***") && !outcome.contains("rod"), "\(outcome)")
        }
        #expect(outcome(400, error, leanplum).contains("Invalid access key: ***"))
        #expect(outcome(400, "unknown key prod", sift, isWhole: false).contains("unknown key ***"))
    }

    @Test func truncatedCredentialIsMaskedCompletely() {
        for padding in 180...210 {
            let outcome = outcome(400, String(repeating: "-", count: padding) + Self.key, sift)
            #expect(!outcome.contains("p") || !outcome.contains("-p"), "\(outcome)")
        }
    }
}
