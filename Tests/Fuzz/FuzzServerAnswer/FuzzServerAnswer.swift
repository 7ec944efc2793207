import ActivityStream
import Delivery
import Glean
import JSONText
import Leanplum
import Mozilla
import Systems
import Telemetry

/// Reads hostile bytes as a server's answer: two bytes of status, a line for `Retry-After`, one for `Location`, the body.
/// What is made of it agrees with the status, and is safe to show and to keep.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServerAnswer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
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

/// A delay as it is read; one until a date becomes shorter with time, any other stays as it is.
private func delay(_ text: String) -> Int? {
    let delay = RetryAfter.seconds(text, now: now)
    guard let delay else { return nil }
    precondition(delay >= 0, "a delay into the past")
    let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    let left = RetryAfter.seconds(text, now: later)
    precondition(left == (isNumber ? delay : max(0, delay - 90)), "a delay that depends on something else")
    let backoff = Backoff()
    for failures in 1...backoff.attempts {
        guard let wait = backoff.delay(afterFailures: failures, retryAfter: delay, jitter: 0.5) else { continue }
        precondition(wait >= Double(delay) && wait <= backoff.limit, "a wait that nobody wants")
    }
    return delay
}

/// Whose servers say yes with any status from 200 to 299.
private let anySuccess: Set<SystemName> = [.mozilla, .activityStream, .glean]

private func check(_ outcome: Outcome, of answer: Answer, from system: SystemName) {
    switch outcome {
    case .delivered(let status, let note):
        precondition(status == answer.status && (200..<300).contains(status), "delivered in spite of its status")
        precondition(status == 200 || anySuccess.contains(system), "delivered without its status")
        if let note { check(note) }
    case .refused(let status, let reason):
        precondition(status == answer.status && (200..<500).contains(status), "refused in spite of its status")
        precondition(!(300..<400).contains(status), "a redirection is held against a record")
        precondition(![401, 403, 407, 408, 425, 429].contains(status), "refused though it may pass")
        check(reason)
    case .retryLater(let status, let reason):
        precondition(status == answer.status, "another status")
        check(reason)
    case .credentialWrong(let status, let reason, _):
        precondition(status == answer.status && (400..<500).contains(status) || system == .leanplum, "another status")
        check(reason)
    case .unknown:
        preconditionFailure("an answer that says nothing")
    }
}

/// What is said of an outcome is one line of limited length.
private func check(_ reason: String) {
    precondition(!reason.isEmpty, "no reason")
    precondition(reason.unicodeScalars.count <= 400, "a server's text is kept whatever its length")
    precondition(
        reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) },
        "a server's control characters are kept")
}

/// A request is delivered without a remark exactly if the server says of no event that it failed.
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
    precondition((outcome == .delivered(status: 200)) == (failures == 0), "failures were not seen, or made up")
}
