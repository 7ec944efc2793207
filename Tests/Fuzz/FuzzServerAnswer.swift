import ActivityStream
import Glean
import JSONText
import Leanplum
import Mozilla
import Systems
import Telemetry

@testable import Delivery

/// Reads hostile bytes as a server's answer, and checks the outcomes.
///
/// The input consists of two bytes for the status, a line for `Retry-After`, a line for `Location`, and the body.
func fuzzServerAnswer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard bytes.count >= 2 else { return 0 }
    let parts = bytes[2...].split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    let texts = parts.prefix(2).map { String(decoding: $0, as: UTF8.self) }
    var answer = Answer(status: 100 + (Int(bytes[0]) << 8 | Int(bytes[1])) % 500)
    answer.retryAfter = texts.first.flatMap(delay)
    answer.location = texts.count > 1 ? texts[1] : nil
    answer.body = parts.count > 2 ? Array(parts[2]) : []
    for system in Systems.table.all {
        let outcome = AnswerTable.outcome(of: answer, from: system.uploads)
        check(outcome, of: answer, from: system.name)
        if system.name == .leanplum, answer.status == 200 { compare(outcome, answer.body) }
    }
    return 0
}

private let now = Timestamp(clamping: 1_583_154_000_000)
private let later = Timestamp(clamping: 1_583_154_090_000)

/// Returns the delay that `text` states, after checking that only a delay until a date decreases with time.
private func delay(_ text: String) -> Int? {
    let delay = RetryAfter.seconds(text, now: now)
    guard let delay else { return nil }
    precondition(delay >= 0, "the delay is negative")
    let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    let left = RetryAfter.seconds(text, now: later)
    precondition(left == (isNumber ? delay : max(0, delay - 90)), "the delay does not depend on the time as expected")
    let backoff = Backoff()
    for failures in 1...backoff.maximumAttempts {
        guard let wait = backoff.delay(afterFailures: failures, retryAfter: delay, jitter: 0.5) else { continue }
        precondition(wait >= Double(delay) && wait <= backoff.maximumDelay, "the wait is out of range")
    }
    return delay
}

/// The systems whose servers confirm delivery with any status from 200 to 299.
private let anySuccess: Set<SystemName> = [.mozilla, .activityStream, .glean]

private func check(_ outcome: Outcome, of answer: Answer, from system: SystemName) {
    switch outcome {
    case .delivered(let status, let note):
        precondition(status == answer.status && (200..<300).contains(status), "the status of the delivery is wrong")
        precondition(status == 200 || anySuccess.contains(system), "the system does not use this status")
        if let note { check(note) }
    case .refused(let status, let reason):
        precondition(status == answer.status && (200..<500).contains(status), "the status of the refusal is wrong")
        precondition(!(300..<400).contains(status), "the record is refused because of a redirection")
        precondition(![401, 403, 407, 408, 425, 429].contains(status), "the record is refused for a temporary reason")
        check(reason)
    case .retryLater(let status, let reason):
        precondition(status == answer.status, "the status differs")
        check(reason)
    case .credentialWrong(let status, let reason, _):
        precondition(
            status == answer.status && (400..<500).contains(status) || system == .leanplum, "the status differs")
        check(reason)
    case .unknown:
        preconditionFailure("the outcome is unknown")
    }
}

/// Checks that a reason is a single line of limited length.
private func check(_ reason: String) {
    precondition(!reason.isEmpty, "the reason is empty")
    precondition(reason.unicodeScalars.count <= 400, "the reason exceeds its limit")
    precondition(
        reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) },
        "the reason contains control characters")
}

/// Checks that a request is delivered without a note if and only if the server reports no failed event.
private func compare(_ outcome: Outcome, _ body: [UInt8]) {
    var failures = 0
    if let document = try? JSONDocument(body), let list = document.value(of: "response", in: document.root),
        document.kind(of: list) == .array
    {
        let elements = document.elements(of: list)
        if elements.allSatisfy({ document.kind(of: $0) == .object }) {
            failures = elements.count { element in
                document.value(of: "success", in: element).map { document.kind(of: $0) == .false } ?? false
            }
        }
    }
    precondition((outcome == .delivered(status: 200)) == (failures == 0), "the number of failed events is wrong")
}
