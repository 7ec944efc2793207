import Bytes
import Telemetry

/// The decisions about the records of a pool that depend on neither limits nor time.
///
/// They determine which of several copies of a record is used, and which withdrawals apply to it.
struct PoolDecisions: Sendable {
    let pool: CandidatePool
    /// The indices of all records in the order in which they are sent.
    let order: [Int]
    let duplicates: DuplicateFinder
    private(set) var withdrawals: AppliedWithdrawals

    init(_ pool: CandidatePool, _ state: LedgerState) {
        self.pool = pool
        order = pool.sendingOrder
        duplicates = DuplicateFinder(pool, order: order)
        withdrawals = AppliedWithdrawals(to: pool, state)
        withdrawals.inherit(between: duplicates)
    }

    /// Returns the index of the copy that is used instead of the record at `index`, or `index` if that record is used.
    func usedCopy(of index: Int) -> Int { duplicates.usedCopies[index] ?? index }

    /// Returns whether the record at `index` is not sent because its client or profile requested a deletion.
    func isDeletionRequested(_ index: Int) -> Bool { withdrawals.kinds(of: index).contains(.deletionRequested) }

    /// Returns the codes for which the record at `index` is held and has not been released.
    func holdCodes(of index: Int) -> [CapturedText] { pool.holdCodes(of: index, adding: withdrawals) }

    /// Returns the fact because of which the record at `index` is not sent, or `nil` if there is no such fact.
    func decidingFact(of index: Int) -> DecidingFact? { copyFact(of: index) ?? withdrawalFact(of: usedCopy(of: index)) }

    /// Returns the fact that the holds of another copy decided about the record at `index`, or `nil` if they did not.
    func copyFact(of index: Int) -> DecidingFact? {
        let copy = usedCopy(of: index)
        let (traits, used) = (pool.traits(of: index), pool.traits(of: copy))
        guard copy != index, let capture = used.capture, used.copyRank < traits.copyRank,
            let code = Self.decisiveCodes.first(where: { used.holds.contains(CapturedText($0)) })
        else { return nil }
        return DecidingFact(code: code, capture: capture.string, path: nil, isCopy: true)
    }

    /// Returns the withdrawal because of which the record at `index` is not sent, or `nil` if there is none.
    func withdrawalFact(of index: Int) -> DecidingFact? {
        let codes = isDeletionRequested(index) ? [Hold.deletionRequested.code] : holdCodes(of: index).map(\.string)
        guard let reason = Self.decisiveCodes.lazy.filter(codes.contains).compactMap(Withdrawal.Reason.init).first
        else { return nil }
        if let fact = withdrawals.fact(reason, of: index) {
            return DecidingFact(code: reason.rawValue, capture: fact.capture, path: fact.path, isCopy: false)
        }
        // The record itself has the hold, but no client to which a withdrawal could apply.
        let capture = pool.traits(of: index).capture?.string
        return DecidingFact(code: reason.rawValue, capture: capture, path: nil, isCopy: false)
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

    /// Examines the candidates of `pool`, where `order` contains their indices in sending order.
    ///
    /// If several candidates have the same key, the one whose holds have the lowest `CopyRank` is used, and of equals the
    /// first one. Holds that the operator has released count, so that a release does not change which copy is used.
    init(_ pool: CandidatePool, order: [Int]) {
        let candidates = pool.candidates
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
            examineGroup(byKey[start..<end], of: pool)
            start = end
        }
    }

    /// Examines the candidates of a group, which have the same identity.
    private mutating func examineGroup(_ group: ArraySlice<Int>, of pool: CandidatePool) {
        let candidates = pool.candidates
        guard let first = group.first, let last = group.last, group.count > 1 else { return }
        if candidates[first].key != candidates[last].key { indicesWithSharedIdentity.formUnion(group) }
        var start = group.startIndex
        while start < group.endIndex {
            let key = candidates[group[start]].key
            let end = group[start...].firstIndex { candidates[$0].key != key } ?? group.endIndex
            // The first of several minimums is used.
            let copies = group[start..<end]
            let used = copies.min { pool.traits(of: $0).copyRank < pool.traits(of: $1).copyRank } ?? group[start]
            for index in copies where index != used { usedCopies[index] = used }
            start = end
        }
    }
}
