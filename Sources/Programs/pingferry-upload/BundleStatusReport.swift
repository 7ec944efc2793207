import Bytes
import Console
import Delivery
import JSONText
import Telemetry

/// The status of a bundle for display, as a line of text or a JSON object.
struct BundleStatusReport {
    let status: BundleStatus
    /// The undelivered records to list, or an empty array if records are not listed.
    var undeliveredRecords: [UndeliveredRecord] = []

    /// The line that `status` prints, such as `monday.tar.zst: done: 7 delivered; held: pending-events 1`.
    var statusLine: String {
        let held = CountedList.text(of: status.heldCounts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) })
        let settled =
            [
                (status.deliveredCount, "delivered"), (status.tooOldCount, "too old"),
                (status.excludedCount, "not to be sent any more"),
            ]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let left =
            (status.refusedCounts.isEmpty ? [] : [refusalPhrase])
            + (status.inFlightCount > 0 ? ["in flight \(status.inFlightCount)"] : [])
            + [Phrase.reasons(status.waitingCounts)].filter { !$0.isEmpty }
        let parts = [
            left.joined(separator: ", "), settled.joined(separator: ", "), held.isEmpty ? "" : "held: \(held)",
        ].filter { !$0.isEmpty }
        let state = status.isDone ? "done" : "not done"
        return "\(status.name.path): \(state)\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: "; "))"
    }

    /// The lines about withdrawals and copies, such as `  opted-out: tue, Library/Preferences/group.plist (2)`.
    var factLines: [String] { Phrase.facts(status.factCounts).map { "  \($0)" } }

    private var refusalPhrase: String {
        let answers = status.refusedCounts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = answers.prefix(Phrase.maximumShownRefusals).map {
            answers.count > 1 ? "\($0.key): \($0.value)" : $0.key.string
        }
        let more = answers.count > Phrase.maximumShownRefusals ? ["…"] : []
        return "refused \(status.refusedCounts.values.reduce(0, +)) (\((shown + more).joined(separator: ", ")))"
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("delivered", integer: status.deliveredCount)
        object.set("digest", string: status.name.digest)
        object.set("done", boolean: status.isDone)
        object.set("facts", facts: status.factCounts)
        object.set("held", object: CanonicalObject(counts: status.heldCounts))
        object.set("inFlight", integer: status.inFlightCount)
        object.set("over", integer: status.excludedCount)
        object.set("path", string: status.name.path)
        object.set("records", integer: status.recordCount)
        object.set("refused", integer: status.refusedCounts.values.reduce(0, +))
        object.set("tooOld", integer: status.tooOldCount)
        object.set("waiting", reasons: status.waitingCounts)
        if !undeliveredRecords.isEmpty { object.set("ids", elements: undeliveredRecords.map(\.json.bytes)) }
        return object
    }
}

/// An undelivered record, and the reason why it is not delivered.
struct UndeliveredRecord {
    let record: Record
    let reason: WaitReason
    /// The withdrawal or the copy because of which the record is not sent, or `nil` for other reasons.
    let fact: DecidingFact?
    /// The last answer to the record, or `nil` if no upload of it has failed.
    let lastAnswer: FailureAnswer?

    /// The lines for the record, with its id in the first line and its type, client, time and reason in the others.
    var lines: [String] {
        let client = record.client.map { ", client \($0)" } ?? ""
        let time = record.time.map { ", \($0)" } ?? ""
        let answer = lastAnswer.map { "; last answer: \(Phrase.lastAnswer($0))" } ?? ""
        let text = "\(record.system) \(record.type)\(client)\(time): \(reason.text)\(answer)"
        return ["  \(record.id)"] + WrappedText.lines(of: text, indent: 4)
    }

    var json: CanonicalObject {
        var object = CanonicalObject(naming: record)
        object.set("code", string: reason.code)
        object.set("detail", string: reason.detail)
        if let fact { object.set("fact", object: CanonicalObject(fact)) }
        if let lastAnswer { object.set("lastAnswer", object: CanonicalObject(lastAnswer)) }
        object.set("text", string: reason.text)
        return object
    }
}

extension CanonicalObject {
    /// Creates an object that describes the last answer to an undelivered record.
    init(_ answer: FailureAnswer) {
        self.init()
        set("reason", string: answer.text)
        set("status", integer: answer.status)
        set("time", string: answer.time?.description)
    }
}

extension CanonicalObject {
    /// Sets the member `key` to an array of reasons, each with its code, detail, number of records and text.
    mutating func set(_ key: JSONKey, reasons: [WaitReason: Int]) {
        set(key, objects: reasons.sorted { $0.key < $1.key }) { object, entry in
            object.set("code", string: entry.key.code)
            object.set("detail", string: entry.key.detail)
            object.set("records", integer: entry.value)
            object.set("text", string: entry.key.text)
        }
    }
}
