import Bytes
import Telemetry

/// The metrics of a job and its ledger, in the text format of Prometheus.
///
/// Source: Prometheus, "Exposition formats", section "Text-based format".
public struct MetricsText {
    /// The prefix of the names of all metrics.
    public static let namePrefix = "pingferry_"

    private var text = ""

    /// Creates the metrics of a job and of its ledger.
    ///
    /// If `overview` is `nil`, because the ledger cannot be read, the metrics of the ledger are omitted. `undelivered`
    /// contains the reasons why planned uploads of the job were not delivered, with the number of uploads for each.
    public init(
        _ overview: LedgerOverview?, knowing systems: SystemTable, _ job: JobState, unusableBundles unusable: Int = 0,
        undelivered: [UndeliveredReason: Int] = [:]
    ) {
        let start: Timestamp
        var (last, isRunning) = (overview?.lastEndTime, 0)
        var status = overview?.lastExitStatus
        switch job {
        case .running(let since): (start, isRunning) = (since, 1)
        case .ended(let begin, let end, let code): (start, last, status) = (begin, end, Int(code))
        }
        add(
            "job_running", "1 while a job runs. If it was killed, the value stays 1 until the next job.",
            [[]: isRunning])
        add("job_start_timestamp_seconds", "The time at which the running or last job began.", [[]: Int(start.seconds)])
        if let last {
            add("last_run_timestamp_seconds", "The time at which the last job ended.", [[]: Int(last.seconds)])
        }
        if let status { add("last_exit_status", "The exit status of the last job, 0 for success.", [[]: status]) }
        if isRunning == 0 {
            add("unusable_bundles", "Bundles of the last job that could not be used.", [[]: unusable])
            addUndelivered(undelivered)
        }
        guard let overview else { return }
        if let success = overview.lastSuccessTime {
            add(
                "last_success_timestamp_seconds", "The time at which the last successful job began.",
                [[]: Int(success.seconds)])
        }
        let oldest = overview.oldestWaitingTimes.map { ([CapturedText($0.key.description)], Int($0.value.seconds)) }
        add(
            "oldest_waiting_timestamp_seconds",
            "The time of the oldest waiting record that is neither held, too old nor set aside.",
            Dictionary(uniqueKeysWithValues: oldest))
        addCounts(overview, systems)
    }

    private mutating func addUndelivered(_ uploads: [UndeliveredReason: Int]) {
        var counts = CountsByLabels()
        for (reason, count) in uploads {
            counts[[CapturedText(reason.system.description), CapturedText(reason.code)], default: 0] += count
        }
        add("undelivered_uploads", "Planned uploads that the last job did not deliver, by cause.", counts, by: "cause")
    }

    /// The metrics as UTF-8 text, with each sample on a separate line.
    public var bytes: [UInt8] { Array(text.utf8) }

    private mutating func addCounts(_ overview: LedgerOverview, _ systems: SystemTable) {
        var (delivered, inFlight, givenUp) = (CountsByLabels(), CountsByLabels(), CountsByLabels())
        var (refused, waiting, releasable) = (CountsByLabels(), CountsByLabels(), CountsByLabels())
        var setAside = CountsByLabels()
        for (group, counts) in overview.counts {
            let system = CapturedText(group.type.system.description)
            delivered[[system], default: 0] += counts.deliveredCount
            inFlight[[system], default: 0] += counts.inFlightCount
            givenUp[[system], default: 0] += counts.givenUpCount
            for (reason, records) in counts.waitingCounts {
                waiting[[system, CapturedText(reason.code)], default: 0] += records
                guard reason.isReleasable(knowing: systems) else { continue }
                let codes = CapturedText(reason.heldCodes.joined(separator: ", "))
                releasable[[system, codes], default: 0] += records
            }
        }
        for remark in overview.remarks where remark.isRefusal {
            refused[["\(remark.group.type.system)", "\(remark.status)"], default: 0] += 1
        }
        add("delivered_records", "Records that were delivered.", delivered)
        add("in_flight_uploads", "Uploads in flight whose outcome is unknown.", inFlight)
        add("given_up_records", "Records that the operator gave up.", givenUp)
        add("refused_records", "Refused records that the operator has not resolved, by status.", refused, by: "status")
        add("waiting_records", "Waiting and held records, by reason.", waiting, by: "reason")
        for record in overview.setAsideRecords {
            setAside[[CapturedText(record.group.type.system.description)], default: 0] += 1
        }
        add("set_aside", "Records that alone failed with server errors in several jobs.", setAside)
        add("held_releasable", "Held records that the operator can release, by hold codes.", releasable, by: "codes")
    }

    /// The values of a metric, keyed by labels: none, the system, or the system and another label.
    private typealias CountsByLabels = [[CapturedText]: Int]

    /// Appends a metric whose values have no labels, the label `system`, or the labels `system` and `label`.
    private mutating func add(_ name: String, _ help: String, _ counts: CountsByLabels, by label: String = "") {
        let name = Self.namePrefix + name
        text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
        for (values, count) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let labels = zip(["system", label], values).map { "\($0)=\"\(Self.escaped($1.string))\"" }
            text += "\(name)\(labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") \(count)\n"
        }
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

/// The state of a job when its metrics are written.
public enum JobState: Sendable {
    /// The job began to send at the given time. The metrics of its end are those of the job before.
    case running(since: Timestamp)
    /// The job that began at `start` ended at `end` with an exit status.
    case ended(start: Timestamp, end: Timestamp, status: Int32)
}
