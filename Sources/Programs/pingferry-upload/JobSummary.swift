import Bytes
import Console
import Delivery
import JSONText
import Telemetry

/// The summary printed after a job, which counts each record of the bundles exactly once.
struct JobSummary {
    /// The plan of the job, with the unsettled records of ended clients withheld.
    let plan: Plan
    let report: JobReport
    /// The error of the ledger or of a bundle that occurred during the job, or `nil` if there was none.
    let failure: CommandError?
    /// A function that returns the name of the setting that provides the credential of an account.
    let settingHint: (Account) -> String
    /// The bundles that were skipped because they cannot be used.
    var unusableBundles: [UnusableBundleError] = []
    /// The unresolved refusals in the ledger after the job, including refusals of records from other bundles.
    var refusalGroups: [RefusalGroup] = []
    /// The records that are set aside in the ledger after the job, including records from other bundles.
    var setAsideGroups: [RefusalGroup] = []
    /// The number of held records in the ledger that the operator can release, for each combination of hold codes.
    var releasableHoldCounts: [CapturedText: Int] = [:]
    /// The pauses in effect for the servers of the plan, including pauses that servers requested during this job.
    var pauses: [Pause]
    /// The status of each bundle, or an empty array if statuses are not reported.
    var bundleStatuses: [BundleStatus] = []
    /// The new paths of the bundles that were moved.
    var movedPaths: [String] = []
    /// The first error that occurred when a bundle was moved, or `nil` if there was none.
    var moveFailure: CommandError?
    /// The error that occurred when the receipt was written, or `nil` if there was none.
    var receiptFailure: CommandError?

    /// The number of lists that were planned to be sent in part and are now partly settled.
    private var sentInPartCount: Int { plan.recordsSentInPart.intersection(report.partlySettledKeys).count }

    /// The number of records that were to be sent, completely or in part, but were not settled as planned.
    private var undeliveredRecordCount: Int {
        max(
            0,
            plan.count(.send) + plan.count(.sendPart) - report.deliveredRecordCount - report.refusedRecordCount
                - sentInPartCount)
    }

    private var unresolvedRefusalCount: Int { refusalGroups.reduce(0) { $0 + $1.recordCount } }

    /// The number of records that the job was not to send completely, by reason.
    private var reasonCounts: [WaitReason: Int] {
        var counts = plan.reasonCounts.filter { $0.key != WaitReason(code: Disposition.sendPart.code) }
        if sentInPartCount > 0 { counts[WaitReason(code: Disposition.sendPart.code)] = sentInPartCount }
        return counts
    }

    /// The number of records to be sent with each outcome, except for outcomes that no record has.
    private var outcomeCounts: [(name: String, count: Int)] {
        [
            ("delivered", report.deliveredRecordCount), ("refused", report.refusedRecordCount),
            ("left", undeliveredRecordCount),
        ].filter { $0.1 > 0 }
    }

    /// The number of records with each outcome or reason, with each record counted once.
    private var recordCounts: [CapturedText: Int] {
        var counts = Dictionary(uniqueKeysWithValues: outcomeCounts.map { (CapturedText($0.name), $0.count) })
        for (reason, records) in reasonCounts { counts[reason.code, default: 0] += records }
        return counts
    }

    /// The exit status of the command, or `nil` for success.
    var exitStatus: ExitStatus? {
        if let failure { return failure.status }
        if let status = unusableBundles.exitStatus { return status }
        if !report.rejectedAccounts.isEmpty || plan.count(.missingCredential) > 0 { return .badConfiguration }
        if report.isOutage || isPausedCompletely { return .unavailable }
        // A refusal takes precedence over records that the next job will send, because the operator has to decide.
        let needsDecision = unresolvedRefusalCount > 0 || !setAsideGroups.isEmpty || !releasableHoldCounts.isEmpty
        if report.refusedRecordCount > 0 || needsDecision { return .incomplete }
        if undeliveredRecordCount > 0 || Disposition.allCases.contains(where: { $0.isDeferred && plan.count($0) > 0 }) {
            return .tryLater
        }
        return (moveFailure ?? receiptFailure)?.status
    }

    /// Whether no upload was planned because servers asked to be left alone, so that the outage goes on.
    private var isPausedCompletely: Bool {
        plan.uploadCount == 0 && plan.count(.serverPause) > 0 && plan.count(.dailyLimit) == 0
    }

    /// The summary line, which scripts parse, such as `120 records: delivered 78, refused 2, daily limit 40`.
    var summaryLine: String {
        let parts =
            outcomeCounts.map { "\($0.name) \($0.count)" }
            + [Phrase.reasons(reasonCounts)].filter { !$0.isEmpty }
        let records = plan.dispositions.count.counted("record")
        let total = ([records] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")])).joined(separator: ": ")
        let pauses = CountedList.first(pauses.map(Phrase.pause))
        let wrong = rejectedAccounts.map { account in
            let name = plan.pool.needsCredential(of: account.system) ? " (\(settingHint(account)))" : ""
            return "credential refused: \(account.label)\(name)"
        }
        let missing = plan.missingCredentials.map { "for \($0.account.label) set \(settingHint($0.account))" }
        let credentials = CountedList.first(wrong) + CountedList.first(missing)
        return ([total] + undeliveredReasonPhrases + pauses + credentials + closingPhrases).joined(separator: "; ")
    }

    private var rejectedAccounts: [Account] {
        report.rejectedAccounts.sorted { CapturedText($0.label) < CapturedText($1.label) }
    }

    /// The reasons why planned uploads were not delivered, and the number of uploads for each.
    private var undeliveredUploads: [(reason: UndeliveredReason, uploads: Int)] {
        report.undeliveredUploadCounts.map { ($0.key, $0.value) }
            .sorted {
                ($0.reason.system, CapturedText($0.reason.text)) < ($1.reason.system, CapturedText($1.reason.text))
            }
    }

    /// The reasons why planned uploads were not delivered, such as `mozilla: 503 busy (2 uploads)`, sorted by system.
    private var undeliveredReasonPhrases: [String] {
        var counts: [CapturedText: Int] = [:]
        for (reason, uploads) in report.undeliveredUploadCounts {
            counts["\(reason.system): \(reason.phrase)", default: 0] += uploads
        }
        return CountedList.entries(of: counts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }) {
            "\($0) (\($1.counted("upload")))"
        }
    }

    /// The phrases about bundles and records that need attention, or a phrase that states that nothing is left.
    private var closingPhrases: [String] {
        var closingPhrases: [String] = []
        if !unusableBundles.isEmpty {
            let messages = CountedList.first(unusableBundles.map { CommandError($0).message })
            closingPhrases.append("left out: \(messages.joined(separator: ", "))")
        }
        if unresolvedRefusalCount > 0 { closingPhrases.append(Phrase.refusals(refusalGroups)) }
        if !setAsideGroups.isEmpty { closingPhrases.append(Phrase.setAside(setAsideGroups)) }
        if !releasableHoldCounts.isEmpty { closingPhrases.append(Phrase.heldRecords(releasableHoldCounts)) }
        if exitStatus == nil, !plan.dispositions.isEmpty {
            let kept = [(Disposition.held, "held"), (.tooOld, "too old")].filter { plan.count($0.0) > 0 }.map(\.1)
            let rest = kept.isEmpty ? "" : " but what is \(kept.joined(separator: " or "))"
            closingPhrases.append("nothing is left\(rest)")
        }
        return closingPhrases
    }

    private var json: CanonicalObject {
        let undelivered = undeliveredUploads.map { reason, uploads -> CanonicalObject in
            ["code": reason.code, "system": reason.system.description, "text": reason.text, "uploads": uploads]
        }
        let unusable = unusableBundles.map { bundle -> CanonicalObject in
            ["message": CommandError(bundle).message, "path": bundle.path]
        }
        var object: CanonicalObject = [
            "bundles": bundleStatuses.map { BundleStatusReport(status: $0).json }, "failure": failure?.message,
            "heldReleasable": releasableHoldCounts, "moved": movedPaths, "pauses": pauses.map(\.json),
            "problems": report.problems, "reasons": reasonCounts.json, "records": recordCounts,
            "refusals": refusalGroups.map(\.json), "requests": report.attemptedUploadCount,
            "setAside": setAsideGroups.map(\.json), "total": plan.dispositions.count, "undelivered": undelivered,
            "unusable": unusable, "wrongCredentials": rejectedAccounts.map(\.label),
        ]
        object.set(waitingIn: plan)
        return object
    }

    /// Prints the summary to standard output and problems to standard error.
    func print(isQuiet: Bool, asJSON: Bool) throws {
        // The JSON log already contains an entry for each upload.
        if !isQuiet, StandardError.currentFormat == .text {
            for problem in report.problems { StandardError.write("\(PingferryUpload.name): \(problem)") }
        }
        if asJSON {
            try JSONResult.print(json, as: .job)
        } else if exitStatus != nil {
            try Terminal.printWarning(summaryLine)
        } else if !isQuiet {
            try Terminal.print(summaryLine)
        }
        guard !asJSON, !isQuiet else { return }
        for path in movedPaths { try Terminal.print("done: moved to \(path)") }
    }
}
