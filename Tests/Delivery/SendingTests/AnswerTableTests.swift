import ActivityStream
import Adjust
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry
import Testing

@testable import Delivery

/// Tests the meaning of answers for each system, according to the format documents.
@Suite struct AnswerTableTests {
    enum Meaning: Equatable {
        case delivered, refused, retryLater, credentialWrong
    }

    private func meaning(_ answer: Answer, _ system: SystemName) -> Meaning {
        switch AnswerTable.outcome(of: answer, from: uploads(system)) {
        case .delivered: .delivered
        case .refused: .refused
        case .retryLater, .unknown: .retryLater
        case .credentialWrong: .credentialWrong
        }
    }

    @Test(arguments: [
        (SystemName.mozilla, [200, 201, 204], Meaning.delivered),
        (.mozilla, [400, 404, 405, 411, 413, 414, 431], .refused),
        (.mozilla, [408, 429, 500, 502, 503, 504, 507, 599], .retryLater),
        (.sift, [200], .delivered),
        (.sift, [201, 202, 204, 400, 404, 413], .refused),
        (.sift, [408, 429, 500, 503], .retryLater),
        (.leanplum, [200], .delivered),
        (.leanplum, [201, 204, 400, 404, 413], .refused),
        (.leanplum, [408, 429, 500, 502, 503, 504], .retryLater),
        (.activityStream, [200, 204], .delivered),
        (.activityStream, [400, 404], .refused),
        (.activityStream, [429, 500], .retryLater),
        // Answers without an object are not from Adjust.
        (.adjust, [400, 404, 413, 451], .refused),
        (.adjust, [200, 201, 204, 408, 429, 500, 503], .retryLater),
    ])
    func statusMeanings(system: SystemName, statuses: [Int], meaning: Meaning) {
        for status in statuses {
            #expect(self.meaning(Answer(status: status), system) == meaning, "\(system) \(status)")
        }
    }

    @Test(arguments: Systems.table.names)
    func rejectedCredentialIsNotARefusal(system: SystemName) {
        for status in [401, 403, 407] { #expect(meaning(Answer(status: status), system) == .credentialWrong) }
    }

    @Test(arguments: Systems.table.names)
    func redirectIsRetriedLater(system: SystemName) {
        for status in [300, 301, 302, 303, 307, 308] {
            let outcome = AnswerTable.outcome(
                of: Answer(status: status, location: "https://elsewhere.example/x"), from: uploads(system))
            #expect(meaning(Answer(status: status), system) == .retryLater)
            #expect("\(outcome)".contains("https://elsewhere.example/x"))
        }
    }

    @Test func reasonContainsStartOfBodyAsOneLine() {
        let answer = Answer(status: 413, body: Array("payload\u{1B}[31m too\r\nlarge\u{7}".utf8))
        #expect(
            AnswerTable.outcome(of: answer, from: uploads(.mozilla))
                == .refused(status: 413, reason: "the body is too large: payload [31m too large"))
    }

    @Test(arguments: [
        (200, #"{"response":[{"success":true},{"success":true}]}"#, Outcome.delivered(status: 200)),
        (200, "no JSON", .delivered(status: 200)),
        (200, "", .delivered(status: 200)),
        (
            200,
            #"{"response":[{"success":false,"error":{"message":"Bad event\n"}},{"success":true},{"success":false}]}"#,
            .delivered(status: 200, note: "2 of the events not successful: Bad event")
        ),
        (
            200, #"{"response":[{"success":false,"apiHost":"elsewhere.example","apiPath":"api"}]}"#,
            .retryLater(
                status: 200, reason: "the server names another endpoint; if it moved, give it with --endpoint")
        ),
        (
            400, #"{"response":[{"success":false,"error":{"message":"Invalid access key: x"}}]}"#,
            .credentialWrong(status: 400, reason: "Invalid access key: x")
        ),
        (
            404, #"{"response":[{"success":false,"error":{"message":"App not found"}}]}"#,
            .credentialWrong(status: 404, reason: "App not found")
        ),
        (
            400, #"{"response":[{"error":{"message":"App not found"}},{"error":{"message":"Other"}}]}"#,
            .refused(status: 400, reason: "Other")
        ),
        (400, "", .refused(status: 400, reason: "the server rejects the request")),
        (
            400, #"{"response":[{"error":{"message":"\n"}}]}"#,
            .refused(status: 400, reason: "the server rejects the request")
        ),
    ])
    func leanplumBodyDeterminesOutcome(status: Int, body: String, outcome: Outcome) {
        #expect(
            AnswerTable.outcome(of: Answer(status: status, body: Array(body.utf8)), from: uploads(.leanplum)) == outcome
        )
    }

    @Test func serverTextIsTruncatedAndCleaned() {
        let long = "\u{1B}[2J\u{9B}2J" + String(repeating: "e\u{301}", count: 10_000)
        let outcomes = [
            AnswerTable.outcome(of: Answer(status: 302, location: long), from: uploads(.mozilla)),
            AnswerTable.outcome(
                of: Answer(
                    status: 400, body: Array(#"{"response":[{"error":{"message":"\#(long.dropFirst())"}}]}"#.utf8)),
                from: uploads(.leanplum)),
        ]
        for outcome in outcomes {
            let reason = outcome.reason ?? ""
            #expect(reason.contains("2Je\u{301}"))
            #expect(reason.unicodeScalars.count < 400)
            #expect(!reason.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), ("-1", nil), ("+5", nil), ("", nil), ("99999999999999999999", .max), ("soon", nil),
        ("1.5", nil),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
        ("Sun, 06 Nov 1994 08:48:00 GMT", 0), ("Mon, 07 Nov 1994 08:49:00 GMT", 86_400),
        ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 32 Nov 1994 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
    ])
    func retryAfterIsSecondsOrDate(value: String, seconds: Int?) throws {
        let now = try #require(Timestamp(rfc3339: "1994-11-06T08:49:00Z"))
        #expect(RetryAfter.seconds(value, now: now) == seconds)
    }
}
