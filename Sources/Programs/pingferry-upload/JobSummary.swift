import Console
import Delivery
import JSONText
import Telemetry

/// The summary that is printed after a job. It counts every record of the bundles exactly once.
struct JobSummary {
    let plan: Plan
    let report: JobReport
    /// Why the ledger or a bundle failed while the job ran.
    let failure: CommandError?
    /// What to set for a credential that is missing.
    let nameToSet: (Account) -> String

    /// Lists that were planned to be sent in part, and of which a part was settled.
    private var sentInPart: Int { plan.recordsSentInPart.intersection(report.begun).count }

    /// Records that were planned and not settled.
    private var left: Int {
        max(0, plan.count(.send) + plan.count(.sendPart) - report.delivered - report.refused - sentInPart)
    }

    /// Records by what became of them.
    private var counts: [(name: String, count: Int)] {
        let ends = [("delivered", report.delivered), ("refused", report.refused), ("left", left)]
        var reasons = plan.reasons
        reasons[Disposition.sendPart.name] = sentInPart
        return (ends + reasons.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }).filter { $0.1 > 0 }
    }

    /// The exit status of the command; nil if all is well.
    ///
    /// A refusal wants somebody to look, so it comes before what settles itself with the next job.
    var status: ExitStatus? {
        if let failure { return failure.status }
        if !report.wrongCredentials.isEmpty || plan.count(.missingCredential) > 0 { return .badConfiguration }
        if report.refused > 0 { return .incomplete }
        if left > 0 || Disposition.allCases.contains(where: { $0.isForLater && plan.count($0) > 0 }) {
            return .tryLater
        }
        return nil
    }

    /// `120 records: delivered 40, refused 1, daily limit 79; answers: 503 2`
    private var sentence: String {
        let parts = counts.map { "\($0.name) \($0.count)" }
        let records = Phrase.count(plan.dispositions.count, "record")
        let why = report.left.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
        let wrong = report.wrongCredentials.sorted().map { "credential refused: \($0)" }
        let pauses = plan.pauses.map(Phrase.pause)
        let missing = plan.missingCredentials.map { "for \($0.account.label) set \(nameToSet($0.account))" }
        return
            ([([records] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")])).joined(separator: ": ")] + why
            + pauses + wrong + missing).joined(separator: "; ")
    }

    private var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("failure", string: failure?.message)
        object.set(
            "records", object: CanonicalObject(counts: Dictionary(counts.map { ($0.name, $0.count) }) { $0 + $1 }))
        object.set(waitingIn: plan)
        object.set("problems", strings: report.problems)
        object.set("requests", integer: report.requests)
        object.set("total", integer: plan.dispositions.count)
        object.set("undelivered", object: CanonicalObject(counts: report.left))
        object.set("wrongCredentials", strings: report.wrongCredentials.sorted())
        return object
    }

    /// Prints the summary, and what went wrong on standard error unless one line has to do; nothing where all is well and nobody asked.
    func print(isQuiet: Bool, asJSON: Bool) throws {
        if !isQuiet {
            for problem in report.problems { StandardError.write("\(PingferryUpload.name): \(problem)") }
        }
        if asJSON {
            try Terminal.print(json)
        } else if !isQuiet || status != nil {
            try Terminal.print(sentence)
        }
    }
}
