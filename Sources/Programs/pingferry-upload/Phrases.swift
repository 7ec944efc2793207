import Bytes
import Console
import Delivery
import JSONText

/// The phrases that summaries consist of.
///
/// Scripts parse these phrases.
enum Phrase {
    /// Returns the reasons in their order with their counts, such as `daily limit 76, held: schema 1`.
    ///
    /// If there are many reasons, only the most frequent ones are listed.
    static func reasons(_ counts: [WaitReason: Int]) -> String {
        CountedList.text(of: counts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) })
    }

    /// Returns a phrase such as `https://h:443 asked to be left alone until 2026-03-02T13:00:00.000Z`.
    static func pause(_ pause: Pause) -> String { "\(pause.endpoint) asked to be left alone until \(pause.endTime)" }

    /// Returns a phrase such as `500 the server is busy or failing, 2026-03-02T13:00:00.000Z`.
    static func lastAnswer(_ answer: FailureAnswer) -> String { answer.phrase + (answer.time.map { ", \($0)" } ?? "") }

    /// Returns a phrase such as `3 records stay refused until retry or forget: 400 no such user (2), 413 too large (1)`.
    static func refusals(_ groups: [RefusalGroup]) -> String { unresolved(groups, "refused") }

    /// Returns a phrase such as `1 record stays set aside until retry or forget: 500 the server is busy or failing (1)`.
    static func setAside(_ groups: [RefusalGroup]) -> String { unresolved(groups, "set aside") }

    private static func unresolved(_ groups: [RefusalGroup], _ state: String) -> String {
        let records = groups.reduce(0) { $0 + $1.recordCount }
        let shown = groups.prefix(maximumShownRefusals).map { "\($0.status) \($0.reason) (\($0.recordCount))" }
        let rest = groups.dropFirst(maximumShownRefusals).reduce(0) { $0 + $1.recordCount }
        let more = rest > 0 ? ["others (\(rest))"] : []
        return "\(stay(records)) \(state) until retry or forget: "
            + (shown + more).joined(separator: ", ")
    }

    private static func stay(_ records: Int) -> String {
        "\(records.counted("record")) stay\(records == 1 ? "s" : "")"
    }

    /// Returns a phrase such as `2 records stay held until release or forget: schema (1), schema+too-few-events (1)`.
    static func heldRecords(_ counts: [CapturedText: Int]) -> String {
        let records = counts.values.reduce(0, +)
        let sorted = counts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }
        let codes = CountedList.entries(of: sorted) { "\($0) (\($1))" }
        return "\(stay(records)) held until release or forget: "
            + codes.joined(separator: ", ")
    }

    /// Returns a line for each code, such as `forgotten: tue, Library/Preferences/com.example.shop.plist (3)`.
    ///
    /// Copies that decided have separate lines, such as `held by a copy in tuesday: opted-out (1)`.
    static func facts(_ counts: [DecidingFact: Int]) -> [String] {
        let groups = Dictionary(grouping: counts) { CapturedText("\($0.key.isCopy ? 1 : 0) \($0.key.code)") }
        return groups.sorted { $0.key < $1.key }.map { _, group in
            let sorted = group.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let rest = sorted.dropFirst(maximumShownFacts).reduce(0) { $0 + $1.value }
            let shown = sorted.prefix(maximumShownFacts).map { "\($0.key.text) (\($0.value))" }
            return (shown + (rest > 0 ? ["others (\(rest))"] : [])).joined(separator: "; ")
        }
    }

    /// The maximum number of facts with the same code that are shown in one line.
    private static let maximumShownFacts = 3

    /// The maximum number of distinct answers to refused records that are shown in one line.
    static let maximumShownRefusals = 3
}

extension [WaitReason: Int] {
    /// The reasons with their codes, details, numbers of records and texts.
    var json: [CanonicalObject] {
        sorted { $0.key < $1.key }.map { reason, records in
            ["code": reason.code, "detail": reason.detail, "records": records, "text": reason.text]
        }
    }
}

extension RefusalGroup {
    var json: CanonicalObject { ["reason": reason, "records": recordCount, "status": status] }
}

extension DecidingFact {
    /// The withdrawal or the copy because of which records are not sent.
    var json: CanonicalObject { ["capture": capture, "code": code, "copy": isCopy, "path": path, "text": text] }
}

extension [DecidingFact: Int] {
    /// The facts with the numbers of records about which they decided.
    var json: [CanonicalObject] {
        sorted { $0.key < $1.key }.map { fact, records in
            var object = fact.json
            object.set("records", records)
            return object
        }
    }
}

extension Pause {
    var json: CanonicalObject { ["endpoint": endpoint, "until": endTime.description] }
}
