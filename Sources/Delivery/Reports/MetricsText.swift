import Telemetry

/// What a job and its ledger say for a monitoring system, as text for a collector that reads files.
///
/// Source: Prometheus, "Exposition formats", section "Text-based format".
public struct MetricsText {
    private var text = ""

    /// Makes the text.
    ///
    /// - Parameters:
    ///   - overview: what the ledger has; nil where it cannot be read.
    ///   - systems: says which held records an operator can release.
    ///   - status: the exit status of the job.
    ///   - now: when the job ended.
    ///   - unusable: how many bundles could not be read.
    public init(
        _ overview: LedgerOverview?, knowing systems: SystemTable, status: Int32, now: Timestamp,
        unusableBundles unusable: Int
    ) {
        add("last_run_timestamp_seconds", "When the last job ended.", [([], now.milliseconds / 1000)])
        add("last_exit_status", "The exit status of the last job: 0 when all is well.", [([], Int64(status))])
        add("unusable_bundles", "Bundles that the last job was given and could not read.", [([], Int64(unusable))])
        guard let overview else { return }
        if let success = overview.lastSuccess {
            add(
                "last_success_timestamp_seconds", "When the last job began that ended with all well.",
                [([], success.milliseconds / 1000)])
        }
        addCounts(overview, systems)
    }

    /// The text, one sample a line.
    public var bytes: [UInt8] { Array(text.utf8) }

    private mutating func addCounts(_ overview: LedgerOverview, _ systems: SystemTable) {
        var (delivered, inFlight, givenUp) = ([String: Int](), [String: Int](), [String: Int]())
        var (refused, waiting, releasable) = ([Pair: Int](), [Pair: Int](), [Pair: Int]())
        for (subject, counts) in overview.counts {
            let system = subject.type.system.description
            delivered[system, default: 0] += counts.delivered
            inFlight[system, default: 0] += counts.inFlight
            givenUp[system, default: 0] += counts.givenUp
            for (reason, records) in counts.waiting {
                waiting[Pair(system: system, other: reason.code), default: 0] += records
                guard reason.isReleasable(knowing: systems) else { continue }
                releasable[Pair(system: system, other: reason.heldCodes.joined(separator: ", ")), default: 0] += records
            }
        }
        for remark in overview.remarks where remark.isRefusal {
            let system = remark.subject.type.system.description
            refused[Pair(system: system, other: String(remark.status)), default: 0] += 1
        }
        add("delivered_records", "Records that were delivered.", Self.samples(delivered))
        add("in_flight_uploads", "Uploads of which it is not known whether they arrived.", Self.samples(inFlight))
        add("given_up_records", "Records that an operator gave up.", Self.samples(givenUp))
        add(
            "refused_records", "Records that a server refused and nobody has settled, by its status.",
            Self.samples(refused, "status"))
        add("waiting_records", "Records that wait or are held, by reason.", Self.samples(waiting, "reason"))
        add(
            "held_releasable", "Held records that an operator can release, by the codes for which they are held.",
            Self.samples(releasable, "codes"))
    }

    private struct Pair: Hashable, Comparable {
        let system: String
        let other: String

        static func < (left: Pair, right: Pair) -> Bool { (left.system, left.other) < (right.system, right.other) }
    }

    private typealias Sample = (labels: [(name: String, value: String)], value: Int64)

    private static func samples(_ counts: [String: Int]) -> [Sample] {
        counts.sorted { $0.key < $1.key }.map { ([("system", $0.key)], Int64($0.value)) }
    }

    private static func samples(_ counts: [Pair: Int], _ name: String) -> [Sample] {
        counts.sorted { $0.key < $1.key }.map { ([("system", $0.key.system), (name, $0.key.other)], Int64($0.value)) }
    }

    private mutating func add(_ name: String, _ help: String, _ samples: [Sample]) {
        text += "# HELP pingferry_\(name) \(help)\n# TYPE pingferry_\(name) gauge\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            text += "pingferry_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
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
