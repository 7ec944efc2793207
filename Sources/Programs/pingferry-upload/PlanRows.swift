import Bytes
import Console
import Delivery

/// The rows of a plan's table, one for each client and type, sorted by the ids of the clients.
///
/// A row is created when it is accessed, because a plan can have millions of clients.
struct PlanRows {
    private let plan: Plan
    /// The indices of all records, sorted by client and type.
    private let records: [UInt32]
    /// The index in `records` of the first record of each row, followed by the total number of records.
    private let bounds: [UInt32]
    /// The number of planned uploads of each record, at the index of the record in the plan.
    private let uploadCounts: [UInt32]

    init(_ plan: Plan) {
        self.plan = plan
        uploadCounts = plan.uploadCountsByRecord
        let (clientRanks, typeRanks) = (plan.names.clientRanks, plan.names.typeRanks)
        func rank(_ record: UInt32) -> (UInt32, UInt32, UInt32) {
            let group = plan.clientAndType(ofRecordAt: Int(record))
            return (clientRanks[Int(group.client)], typeRanks[Int(group.type)], record)
        }
        let records = (0..<UInt32(plan.dispositions.count)).sorted { rank($0) < rank($1) }
        let starts = records.indices.filter { index in
            index == 0
                || plan.clientAndType(ofRecordAt: Int(records[index]))
                    != plan.clientAndType(ofRecordAt: Int(records[index - 1]))
        }
        self.records = records
        bounds = starts.map { UInt32($0) } + [UInt32(records.count)]
    }
}

extension PlanRows: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { bounds.count - 1 }

    subscript(index: Int) -> [String] {
        let records = records[Int(bounds[index])..<Int(bounds[index + 1])].map { Int($0) }
        func count(_ isIncluded: (Disposition) -> Bool) -> String {
            "\(records.count { isIncluded(plan.dispositions[$0]) })"
        }
        let (client, type) = plan.clientAndType(ofRecordAt: records[0])
        let groups = records.map { plan.group(ofRecordAt: $0) }.filter { $0.disposition != .send }
        let reasons = Dictionary(grouping: groups) { $0 }.map { (name: plan.reason(of: $0).text, count: $1.count) }
            .sorted { CapturedText($0.name) < CapturedText($1.name) }
        let uploads = records.reduce(0) { $0 + uploadCounts[$1] }
        return [
            plan.names.clients.id(ofClient: Int(client)) ?? PlanNames.noClient,
            plan.names.types[type].system.description,
            plan.names.types[type].name, "\(uploads)", count { $0 == .send }, count(\.isWaiting),
            count { $0 != .send && !$0.isWaiting }, CountedList.text(of: reasons),
        ]
    }
}

extension PlanNames {
    /// The text that is shown instead of an id for records without a client id.
    fileprivate static let noClient = "(none)"

    /// The position of each client if the clients are sorted by the bytes of their ids, and then by system.
    fileprivate var clientRanks: [UInt32] {
        let noClient = Array(Self.noClient.utf8)[...]
        func id(_ client: UInt32) -> ArraySlice<UInt8> {
            let id = clients.idBytes(ofClient: Int(client))
            return id.isEmpty && clients.id(ofClient: Int(client)) == nil ? noClient : id
        }
        let sorted = (0..<UInt32(clients.count)).sorted { left, right in
            let (first, second) = (id(left), id(right))
            return first.lexicographicallyPrecedes(second)
                || !second.lexicographicallyPrecedes(first)
                    && clients.system(ofClient: Int(left)) < clients.system(ofClient: Int(right))
        }
        return Self.ranks(sorted)
    }

    /// The position of each type if the types are sorted by name.
    fileprivate var typeRanks: [UInt32] {
        Self.ranks((0..<UInt32(types.values.count)).sorted { types[$0].name < types[$1].name })
    }

    private static func ranks(_ sorted: [UInt32]) -> [UInt32] {
        var ranks = [UInt32](repeating: 0, count: sorted.count)
        for (rank, number) in sorted.enumerated() { ranks[Int(number)] = UInt32(rank) }
        return ranks
    }
}
