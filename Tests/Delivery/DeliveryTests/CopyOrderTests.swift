import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that plans depend neither on the order of the captures nor on how they are divided among bundles.
@Suite struct CopyOrderTests {
    private typealias Contents = Sample.BundleContents

    private static let clients = ["5F0D1C7A-2B94-4E0C-9D3E-8A61B7C2F415", "2b7e1f30-64c5-4a9d-8f12-9d0c3b5a7e68", "C"]
    private static let holds: [[Hold]] = [
        [], [], [.schema(["a"])], [.schema(["b"])], [.schema(["a"]), Hold("metadata")], [.delivered(status: 200)],
        [.pendingEvents], [.schema([]), .delivered(status: 204)], [.optedOut], [.schema(["a"]), .optedOut],
        [.forgotten],
        [Hold("attribution")], [.deletionRequested],
    ]

    /// Returns the records of which captures contain copies, with different ids and times.
    private static func records() -> [Record] {
        var records: [Record] = []
        for number in 0..<6 {
            records.append(Sample.core(number, client: clients[number % 3]))
            records.append(Sample.adjust(10 + number, client: clients[number % 3]))
            records.append(Sample.glean(20 + number, "baseline", client: clients[number % 3]))
            records.append(
                Sample.glean(
                    30 + number, "usage-reporting", client: nil, uuids: ["usage.profile_id": clients[number % 3]])
            )
        }
        records.append(
            Sample.glean(
                40, "deletion-request", client: clients[0].lowercased(), uuids: ["legacy.ids.client_id": clients[1]]))
        records.append(Sample.glean(41, "usage-deletion-request", client: nil, uuids: ["usage.profile_id": clients[2]]))
        return records
    }

    /// Returns 2 to 5 captures with overlapping records in different states.
    private static func captures(using generator: inout SeededGenerator) -> [Contents] {
        let records = records()
        return (0..<Int.random(in: 2...5, using: &generator)).map { number in
            var contents = Contents([])
            for var record in records where Int.random(in: 0..<3, using: &generator) == 0 {
                let isRequest = record.type.hasSuffix("deletion-request")
                guard !isRequest || Int.random(in: 0..<3, using: &generator) == 0 else { continue }
                record.held =
                    Int.random(in: 0..<2, using: &generator) == 0 ? [] : holds.randomElement(using: &generator) ?? []
                // Facts are rare, because otherwise no records would be sent.
                let isFact = record.held.contains { [Hold.optedOut, .forgotten].contains($0) }
                if isFact, Int.random(in: 0..<4, using: &generator) > 0 { record.held = [] }
                if record.system == .mozilla, Int.random(in: 0..<5, using: &generator) == 0 {
                    record.target = Sample.core(99, client: "C").target
                }
                record.source = Source(
                    capture: "capture-\(number)", path: record.source.path, store: record.source.store, index: 0)
                contents.records.append(record)
            }
            for reason in Withdrawal.Reason.allCases where Int.random(in: 0..<8, using: &generator) == 0 {
                let system = [SystemName.mozilla, .adjust, .glean].randomElement(using: &generator) ?? .mozilla
                let client = clients.randomElement(using: &generator) ?? ""
                contents.withdrawals.append(
                    Sample.withdrawal(reason, system, client: client, capture: "capture-\(number)"))
            }
            return contents
        }
    }

    private static func key(_ record: Record) -> String { "\(record.system) \(record.type) \(record.id)" }

    /// Returns what a plan for `bundles` decides about each record, with the holds of the record.
    private static func decisions(_ bundles: [Contents], released: Set<String>) -> [String: [String]] {
        let pool = Sample.pool(bundles: bundles) { released.contains("\($1) \($0.utf8.last ?? 0)") }
        let limits = UploadLimits(daily: nil, perType: nil)
        let plan = Planner.plan(pool, LedgerState(), rules: PlanRules(limits: limits), now: Sample.time(60 * 24))
        var decisions: [String: [String]] = [:]
        for (index, record) in bundles.flatMap(\.records).enumerated() where plan.dispositions[index] != .duplicate {
            let holds = plan.dispositions[index] == .held ? plan.holds(of: index) : []
            #expect(decisions.updateValue([plan.dispositions[index].code] + holds, forKey: key(record)) == nil)
        }
        return decisions
    }

    /// Returns the same, computed directly from the rules.
    private static func expected(_ captures: [Contents], released: Set<String>) -> [String: [String]] {
        let records = captures.flatMap(\.records)
        var facts: Set<String> = []
        for withdrawal in captures.flatMap(\.withdrawals) {
            let id = withdrawal.subject.id.lowercased
            facts.insert("\(withdrawal.reason.rawValue) \(withdrawal.subject.system) \(id)")
        }
        for record in records {
            let client = record.client?.lowercased() ?? ""
            for hold in record.held where ["forgotten", "opted-out"].contains(hold.code) && !client.isEmpty {
                facts.insert("\(hold.code) \(record.system) \(client)")
            }
            switch record.type {
            case "deletion-request":
                facts.insert("deletion-requested glean \(client)")
                facts.insert("deletion-requested mozilla \(clients[1].lowercased())")
            case "usage-deletion-request": facts.insert("deletion-requested profile \(clients[2].lowercased())")
            default: break
            }
        }
        var decisions: [String: [String]] = [:]
        for (key, copies) in Dictionary(grouping: records, by: key) {
            let holds =
                copies.map { record -> [Hold] in
                    let isForeign = record.target == Sample.core(99, client: "C").target
                    return record.held + (isForeign ? [Hold("foreign-target")] : [])
                }.min { rank($0).lexicographicallyPrecedes(rank($1)) } ?? []
            let record = copies[0]
            var subjects = ["\(record.system) \(record.client?.lowercased() ?? "-")"]
            if record.type == "usage-reporting", let number = Int(record.id.suffix(2)) {
                subjects.append("profile \(clients[(number - 30) % 3].lowercased())")
            }
            if record.type.hasSuffix("deletion-request") { subjects = [] }
            func applies(_ reason: String) -> Bool { subjects.contains { facts.contains("\(reason) \($0)") } }
            guard !applies("deletion-requested") else {
                decisions[key] = ["deletion-requested"]
                continue
            }
            func isReleased(_ code: String) -> Bool {
                released.contains("\(code) \(record.id.utf8.last ?? 0)")
                    && HoldCodes.isReleasable(code, knowing: Systems.table)
            }
            var codes = holds.map(\.code)
            for code in ["forgotten", "opted-out"] where applies(code) && !codes.contains(code) { codes.append(code) }
            codes.removeAll(where: isReleased)
            decisions[key] = codes.isEmpty ? ["send"] : ["held"] + codes
        }
        return decisions
    }

    /// Returns bytes that sort by rule, then by the number of holds, then by their text.
    private static func rank(_ holds: [Hold]) -> [UInt8] {
        let codes = Set(holds.map(\.code))
        let rule: UInt8 =
            if !codes.isDisjoint(with: ["forgotten", "deletion-requested"]) { 1 } else if codes.contains("delivered") {
                2
            } else if codes.contains("opted-out") { 3 } else { holds.isEmpty ? 4 : 5 }
        return [rule, UInt8(holds.count)] + Array(holds.map(\.text).joined(separator: "\n").utf8)
    }

    @Test("Random captures have the same plan in every order and division, and it follows the rules")
    func randomCaptures() {
        var dispositions: Set<String> = []
        for seed in 0..<150 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let captures = Self.captures(using: &generator)
            let codes = ["schema", "delivered", "opted-out", "forgotten", "attribution", "foreign-target", "metadata"]
            let released = Set(
                (0..<6).compactMap { _ in
                    codes.randomElement(using: &generator).map {
                        "\($0) \(48 + Int.random(in: 0..<10, using: &generator))"
                    }
                })
            let expected = Self.expected(captures, released: released)
            dispositions.formUnion(expected.values.map { $0.joined(separator: ", ") })
            for _ in 0..<6 {
                var bundles: [Contents] = []
                for capture in captures.shuffled(using: &generator) {
                    if let last = bundles.last, Bool.random(using: &generator) {
                        bundles[bundles.count - 1] = Contents(
                            last.records + capture.records, last.withdrawals + capture.withdrawals)
                    } else {
                        bundles.append(capture)
                    }
                }
                #expect(Self.decisions(bundles, released: released) == expected, "seed \(seed)")
            }
        }
        #expect(dispositions.isSuperset(of: ["send", "deletion-requested", "held, opted-out", "held, forgotten"]))
    }
}
