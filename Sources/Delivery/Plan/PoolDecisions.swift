import Bytes
import Telemetry

/// The decisions about the records of a pool that depend on neither limits nor time.
///
/// They determine which of several copies of a record is used, and which withdrawals apply to it.
struct PoolDecisions: Sendable {
    let pool: CandidatePool
    private(set) var withdrawals: AppliedWithdrawals
    private let duplicates: DuplicateFinder

    init(_ pool: CandidatePool, _ state: LedgerState, _ duplicates: DuplicateFinder) {
        (self.pool, self.duplicates) = (pool, duplicates)
        withdrawals = AppliedWithdrawals(to: pool, state)
        withdrawals.inherit(between: duplicates)
    }

    /// Returns the index of the copy that is used instead of the record at `index`, or `index` if that record is used.
    func usedCopy(of index: Int) -> Int { duplicates.usedCopies[index] ?? index }

    /// Returns whether the record at `index` is not sent because its client or profile requested a deletion.
    func isDeletionRequested(_ index: Int) -> Bool { withdrawals.kinds(of: index).contains(.deletionRequested) }

    /// Returns the codes for which the record at `index` is held and has not been released.
    func holdCodes(of index: Int) -> [String] {
        pool.names.holdCodes(pool.candidates[index].holdsIndex, adding: withdrawals.holds(of: index))
    }

    /// Returns the fact because of which the record at `index` is not sent, or `nil` if there is no such fact.
    func decidingFact(of index: Int) -> DecidingFact? { copyFact(of: index) ?? withdrawalFact(of: usedCopy(of: index)) }

    /// Returns the fact that the holds of another copy decided about the record at `index`, or `nil` if they did not.
    func copyFact(of index: Int) -> DecidingFact? {
        let copy = usedCopy(of: index)
        guard copy != index, let capture = capture(of: copy) else { return nil }
        let (rank, other) = (
            pool.names.copyRank(of: pool.candidates[index]), pool.names.copyRank(of: pool.candidates[copy])
        )
        let codes = Set(pool.candidates[copy].holdsIndex.map { pool.names.holds[$0] } ?? [])
        guard other < rank, let code = Self.decisiveCodes.first(where: { codes.contains($0) }) else { return nil }
        return DecidingFact(code: code, capture: capture, path: nil, isCopy: true)
    }

    /// Returns the label of the capture of the record at `index`, or `nil` unless its holds decide about all copies.
    private func capture(of index: Int) -> String? {
        pool.candidates[index].captureIndex.map { pool.names.captures[$0].string }
    }

    /// Returns the withdrawal because of which the record at `index` is not sent, or `nil` if there is none.
    func withdrawalFact(of index: Int) -> DecidingFact? {
        let codes = isDeletionRequested(index) ? [Hold.deletionRequested.code] : holdCodes(of: index)
        guard let reason = Self.decisiveCodes.lazy.filter(codes.contains).compactMap(Withdrawal.Reason.init).first
        else { return nil }
        if let fact = withdrawals.fact(reason, of: index) {
            return DecidingFact(code: reason.rawValue, capture: fact.capture, path: fact.path, isCopy: false)
        }
        // The record itself has the hold, but no client to which a withdrawal could apply.
        return DecidingFact(code: reason.rawValue, capture: capture(of: index), path: nil, isCopy: false)
    }

    /// The hold codes that decide about all copies of a record, in the order of their rules.
    private static let decisiveCodes = [
        Hold.forgotten, .deletionRequested, .delivered(status: 200), .optedOut,
    ].map(\.code)
}

/// The fact because of which a record is not sent: a withdrawal, or the holds of another copy of the record.
public struct DecidingFact: Sendable, Hashable {
    /// The hold code of the copy, or the reason of the withdrawal, such as `forgotten`.
    @CapturedText public private(set) var code: String
    /// The label of the capture that contains the fact or the copy, or `nil` if an earlier job settled it.
    @OptionalCapturedText public private(set) var capture: String?
    /// The path of the file that contains the withdrawal, or `nil` for a copy.
    @OptionalCapturedText public private(set) var path: String?
    /// Whether the holds of another copy decided.
    public let isCopy: Bool

    /// The fact for display, such as `forgotten: tue, Library/Preferences/com.example.shop.plist`.
    public var text: String {
        guard let capture else { return "\(code): an upload or an answer of an earlier job" }
        if isCopy { return "held by a copy in \(capture): \(code)" }
        return ([code + ": " + capture] + (path.map { [$0] } ?? [])).joined(separator: ", ")
    }
}

extension DecidingFact: Comparable {
    /// The parts of the fact, by which facts are sorted.
    private var parts: [CapturedText] {
        [isCopy ? "copy" : "", code, capture == nil ? "earlier" : "", capture ?? "", path ?? ""]
            .map { CapturedText($0) }
    }

    /// Returns whether `left` is listed before `right`.
    public static func < (left: DecidingFact, right: DecidingFact) -> Bool {
        left.parts.lexicographicallyPrecedes(right.parts)
    }
}

/// The result of a search for candidates that represent the same upload or have the same id.
struct DuplicateFinder {
    /// For the index of each duplicate, the index of the copy that is used instead.
    private(set) var usedCopies: [Int: Int] = [:]
    /// The indices of the candidates whose id another candidate with another key has.
    private(set) var indicesWithSharedIdentity: Set<Int> = []

    /// Examines `candidates`, where `order` contains their indices in sending order.
    ///
    /// If several candidates have the same key, the one whose holds have the lowest `CopyRank` is used, and of equals the
    /// first one. Holds that the operator has released count, so that a release does not change which copy is used.
    init(_ candidates: [Candidate], order: [Int], names: PlanNames) {
        var ranks = Array(repeating: 0, count: candidates.count)
        for (rank, index) in order.enumerated() { ranks[index] = rank }
        let byKey = order.sorted { left, right in
            let (first, second) = (candidates[left].key, candidates[right].key)
            return first == second ? ranks[left] < ranks[right] : first < second
        }
        var start = 0
        while start < byKey.count {
            let identity = candidates[byKey[start]].key.identity
            let end = byKey[start...].firstIndex { candidates[$0].key.identity != identity } ?? byKey.count
            examineGroup(byKey[start..<end], candidates, names)
            start = end
        }
    }

    /// Examines the candidates of a group, which have the same identity.
    private mutating func examineGroup(_ group: ArraySlice<Int>, _ candidates: [Candidate], _ names: PlanNames) {
        guard let first = group.first, let last = group.last, group.count > 1 else { return }
        if candidates[first].key != candidates[last].key { indicesWithSharedIdentity.formUnion(group) }
        var start = group.startIndex
        while start < group.endIndex {
            let key = candidates[group[start]].key
            let end = group[start...].firstIndex { candidates[$0].key != key } ?? group.endIndex
            // The first of several minimums is used.
            let used =
                group[start..<end].min {
                    names.copyRank(of: candidates[$0]) < names.copyRank(of: candidates[$1])
                } ?? group[start]
            for index in group[start..<end] where index != used { usedCopies[index] = used }
            start = end
        }
    }
}
