import Console
import Delivery
import JSONText
import Telemetry

/// The summary printed after a job, which counts each record of the bundles exactly once.
struct JobSummary {
    /// The plan of the job, with the records of ended clients withheld.
    let plan: Plan
    let report: JobReport
    /// The error of the ledger or of a bundle that occurred during the job, or `nil` if there was none.
    let failure: CommandError?
    /// A function that returns the name of the setting that provides the credential of an account.
    let settingHint: (Account) -> String
    /// The bundles that were skipped because they cannot be used.
    var unusable: [UnusableBundleError] = []
    /// The unresolved refusals in the ledger after the job, including those of other bundles.
    var refusals: [RefusalGroup] = []
    /// The number of held records in the ledger that the operator can release, by hold codes.
    var heldReleasable: [String: Int] = [:]
    /// The pauses in effect, including pauses that servers requested during this job.
    var pauses: [Pause]
    /// The status of each bundle, or an empty array if statuses are not reported.
    var bundles: [BundleStatus] = []
    /// The new paths of the bundles that were moved.
    var moved: [String] = []
    /// The first error that occurred when a bundle was moved, or `nil` if there was none.
    var moveFailure: CommandError?

    /// The number of lists that were planned to be sent in part and are now partly settled.
    private var sentInPart: Int { plan.recordsSentInPart.intersection(report.partlySettled).count }

    /// The number of planned records that were not settled.
    private var undeliveredRecords: Int {
        max(0, plan.count(.send) + plan.count(.sendPart) - report.delivered - report.refused - sentInPart)
    }

    private var unresolvedRefusals: Int { refusals.reduce(0) { $0 + $1.records } }

    /// The number of records that the job did not attempt to send, by reason.
    private var reasons: [WaitReason: Int] {
        var reasons = plan.reasons.filter { $0.key != WaitReason(code: Disposition.sendPart.code) }
        if sentInPart > 0 { reasons[WaitReason(code: Disposition.sendPart.code)] = sentInPart }
        return reasons
    }

    /// The number of planned records with each outcome.
    private var outcomes: [(name: String, count: Int)] {
        [("delivered", report.delivered), ("refused", report.refused), ("left", undeliveredRecords)].filter { $0.1 > 0 }
    }

    /// The number of records with each outcome or reason, with each record counted once.
    private var counts: [String: Int] {
        var counts = Dictionary(uniqueKeysWithValues: outcomes)
        for (reason, records) in reasons { counts[reason.code, default: 0] += records }
        return counts
    }

    /// The exit status of the command, or `nil` for success.
    var status: ExitStatus? {
        if let failure { return failure.status }
        if let status = unusable.status { return status }
        if !report.wrongCredentials.isEmpty || plan.count(.missingCredential) > 0 { return .badConfiguration }
        if report.isOutage { return .unavailable }
        // A refusal takes precedence over records that the next job will send, because the operator has to decide.
        if report.refused > 0 || unresolvedRefusals > 0 || !heldReleasable.isEmpty { return .incomplete }
        if undeliveredRecords > 0 || Disposition.allCases.contains(where: { $0.isDeferred && plan.count($0) > 0 }) {
            return .tryLater
        }
        return moveFailure?.status
    }

    /// Whether the summary line is printed even with `--quiet`.
    private var needsAttention: Bool { status != nil || plan.count(.tooOld) > 0 }

    /// The summary line, which scripts parse, such as `120 records: delivered 40, refused 1, left 2`.
    var summaryLine: String {
        let parts =
            outcomes.map { "\($0.name) \($0.count)" }
            + reasons.sorted { $0.key < $1.key }.map { "\($0.key.text) \($0.value)" }
        let records = Phrase.count(plan.dispositions.count, "record")
        let total = ([records] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")])).joined(separator: ": ")
        let pauses = pauses.map(Phrase.pause)
        let wrong = wrongCredentials.map { account in
            let name = plan.pool.needsCredential(of: account.system) ? " (\(settingHint(account)))" : ""
            return "credential refused: \(account.label)\(name)"
        }
        let missing = plan.missingCredentials.map { "for \($0.account.label) set \(settingHint($0.account))" }
        return ([total] + undeliveredPhrases + pauses + wrong + missing + closingPhrases).joined(separator: "; ")
    }

    private var wrongCredentials: [Account] { report.wrongCredentials.sorted { $0.label < $1.label } }

    /// The reasons why planned uploads were not delivered, and the number of uploads for each.
    private var undelivered: [(reason: UndeliveredReason, uploads: Int)] {
        report.undelivered.map { ($0.key, $0.value) }
            .sorted { ($0.reason.system.description, $0.reason.text) < ($1.reason.system.description, $1.reason.text) }
    }

    /// The reasons why planned uploads were not delivered, such as `mozilla: 503 busy (2)`, sorted by system.
    private var undeliveredPhrases: [String] {
        var counts: [String: Int] = [:]
        for (reason, uploads) in report.undelivered {
            counts["\(reason.system): \(reason.phrase)", default: 0] += uploads
        }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
    }

    /// The phrases about bundles and records that need the operator's attention, or that nothing is left.
    private var closingPhrases: [String] {
        var closingPhrases: [String] = []
        if !unusable.isEmpty { closingPhrases.append("left out: \(unusable.map(\.path).joined(separator: ", "))") }
        if unresolvedRefusals > 0 { closingPhrases.append(Phrase.refusals(refusals)) }
        if !heldReleasable.isEmpty { closingPhrases.append(Phrase.held(heldReleasable)) }
        if !needsAttention, !plan.dispositions.isEmpty {
            closingPhrases.append(plan.count(.held) > 0 ? "nothing is left but what is held" : "nothing is left")
        }
        return closingPhrases
    }

    private var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("bundles", elements: bundles.map { BundleStatusReport(status: $0).json.bytes })
        object.set("failure", string: failure?.message)
        object.set("heldReleasable", object: CanonicalObject(counts: heldReleasable))
        object.set("moved", strings: moved)
        object.set("problems", strings: report.problems)
        object.set("reasons", reasons: reasons)
        object.set("records", object: CanonicalObject(counts: counts))
        object.set("refusals", refusals: refusals)
        object.set("requests", integer: report.requests)
        object.set("total", integer: plan.dispositions.count)
        object.set("undelivered", objects: undelivered) { object, left in
            object.set("code", string: left.reason.code)
            object.set("system", string: left.reason.system.description)
            object.set("text", string: left.reason.text)
            object.set("uploads", integer: left.uploads)
        }
        object.set("unusable", objects: unusable) { object, bundle in
            object.set("message", string: CommandError(bundle).message)
            object.set("path", string: bundle.path)
        }
        object.set(waitingIn: plan)
        object.set(pauses)
        object.set("wrongCredentials", strings: wrongCredentials.map(\.label))
        return object
    }

    /// Prints the summary to standard output and problems to standard error.
    func print(isQuiet: Bool, asJSON: Bool) throws {
        // The JSON log already contains an entry for each upload.
        if !isQuiet, StandardError.currentForm == .text {
            for problem in report.problems { StandardError.write("\(PingferryUpload.name): \(problem)") }
        }
        if asJSON {
            try Terminal.print(json)
        } else if !isQuiet || needsAttention {
            try Terminal.print(summaryLine)
        }
        guard !asJSON, !isQuiet else { return }
        for path in moved { try Terminal.print("done: moved to \(path)") }
    }
}

extension CanonicalObject {
    mutating func set(_ key: JSONKey, refusals: [RefusalGroup]) {
        set(key, objects: refusals) { object, group in
            object.set("reason", string: group.reason)
            object.set("records", integer: group.records)
            object.set("status", integer: group.status)
        }
    }
}
