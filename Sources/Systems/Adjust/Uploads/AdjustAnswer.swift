import Bytes
import JSONText
import Telemetry

/// An answer from Adjust's server, with a JSON object as its body.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 10.3.
struct AdjustAnswer {
    private let answer: Answer
    /// The members of the body, or `nil` if the body is not a JSON object but, for example, the page of a captive
    /// portal.
    private let fields: JSONFields?

    init(_ answer: Answer) {
        self.answer = answer
        fields = try? JSONFields(answer.body)
    }

    var outcome: Outcome {
        let status = answer.status
        guard answer.isWhole else { return .unknown(reason: "the server's answer was cut short") }
        guard let fields else {
            // Only pages and plain text are quoted, because damaged JSON can contain ids of the client.
            var page = answer
            let first = page.body.first { $0 > 0x20 } ?? 0
            if first != UInt8(ascii: "<"), !first.isLetter { page.body = [] }
            return (200..<300).contains(status)
                ? .retryLater(status: status, reason: page.reason("the answer is not from Adjust")) : .refused(page)
        }
        let texts = ["error", "message"].compactMap { fields.text(JSONKey($0)) }
        let message = texts.first { !$0.isEmpty }.map { answer.line($0) } ?? ""
        if AdjustUploads.deliveredStatuses.contains(status) {
            return .delivered(status: status, note: message.isEmpty || message == "OK" ? nil : message)
        }
        return .refused(status: status, reason: message.isEmpty ? "the server rejects the request" : message)
    }

    var instructions: AnswerInstructions {
        AnswerInstructions(
            retryDelay: fields?.integer("retry_in").map { max(0, $0) / 1000 + ($0 % 1000 > 0 ? 1 : 0) },
            nextDelay: fields?.integer("continue_in").map { Double(max(0, $0)) / 1000 },
            endsClient: fields?.text("tracking_state") == "opted_out")
    }
}
