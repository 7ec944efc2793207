import Bundle
import Bytes
import Telemetry

/// The withdrawals that apply to the records of a pool.
///
/// They come from the bundles of the pool and from the ledger. Types that are sent before all others are exempt, because
/// they contain the requests for deletion.
///
/// Source: "Delivery", "Copies and withdrawals".
struct AppliedWithdrawals: Sendable {
    private let pool: CandidatePool
    private let facts: WithdrawalTable
    private var kindsByClient: [UInt32: WithdrawalKinds] = [:]
    private var kindsByProfile: [UInt32: WithdrawalKinds] = [:]
    /// The kinds that apply to a record because of a copy with another client.
    private var kindsByRecord: [Int: WithdrawalKinds] = [:]
    /// For each type index, whether records of the type are sent before all other records of their client.
    private let typeTakesPrecedence: [Bool]

    init(to pool: CandidatePool, _ state: LedgerState) {
        var facts = pool.withdrawals
        for withdrawal in state.withdrawals { facts.insert(withdrawal, isDerived: false) }
        (self.pool, self.facts) = (pool, facts)
        typeTakesPrecedence = pool.names.types.values.indices.map { pool.takesPrecedence(typeIndex: UInt32($0)) }
        for (reason, subject) in facts.keys {
            guard let number = pool.number(of: subject) else { continue }
            switch subject.kind {
            case .client: kindsByClient[number, default: []].insert(WithdrawalKinds(reason))
            case .profile: kindsByProfile[number, default: []].insert(WithdrawalKinds(reason))
            }
        }
        for client in state.deletedClients {
            guard let number = pool.names.clients.existingNumber(of: client) else { continue }
            kindsByClient[UInt32(number), default: []].insert(.deletionRequested)
        }
    }

    private var isEmpty: Bool { kindsByClient.isEmpty && kindsByProfile.isEmpty }

    /// Applies the withdrawals of all copies of a record to the copy that is used.
    ///
    /// Copies usually have the same client. Bundles that were not made by this program can differ.
    mutating func inherit(between copies: DuplicateFinder) {
        guard !isEmpty else { return }
        // The result does not depend on the order of the copies.
        for (duplicate, representative) in copies.usedCopies {
            let missing = kinds(of: duplicate).subtracting(kinds(of: representative))
            if !missing.isEmpty { kindsByRecord[representative, default: []].formUnion(missing) }
        }
    }

    /// Returns the kinds of withdrawals that apply to the record at `index`, whether or not the operator released it.
    func kinds(of index: Int) -> WithdrawalKinds {
        guard !isEmpty else { return [] }
        let candidate = pool.candidates[index]
        guard !typeTakesPrecedence[Int(candidate.typeIndex)] else { return [] }
        var kinds = kindsByClient[candidate.clientIndex] ?? []
        if !kindsByProfile.isEmpty, let profile = candidate.profileIndex {
            kinds.formUnion(kindsByProfile[profile] ?? [])
        }
        return kindsByRecord.isEmpty ? kinds : kinds.union(kindsByRecord[index] ?? [])
    }

    /// Returns the kinds of withdrawals because of which the record at `index` is held and has not been released.
    func holds(of index: Int) -> WithdrawalKinds {
        let kinds = kinds(of: index).intersection(.holds)
        return kinds.contains(.optedOut) && pool.traits(of: index).isReleasedFromOptOut
            ? kinds.subtracting(.optedOut) : kinds
    }

    /// Returns the withdrawal of the client or profile of the record at `index`, or `nil` if there is none.
    ///
    /// The result is `nil` for clients whose requests for deletion the ledger contains only as uploads.
    func fact(_ reason: Withdrawal.Reason, of index: Int) -> Withdrawal? {
        let candidate = pool.candidates[index]
        let client = pool.names.clients[candidate.clientIndex]
        let profile = candidate.profileIndex.flatMap { pool.profiles.id(ofClient: Int($0)) }
        let subjects = [(Withdrawal.Subject.Kind.client, client.client), (.profile, profile)]
        return subjects.lazy.compactMap { kind, id in
            id.flatMap { facts[reason, Withdrawal.Subject(client.system, kind, id: $0)] }
        }.first
    }
}

extension CandidatePool {
    /// Returns the number of a client or profile, or `nil` if no record of the pool belongs to `subject`.
    func number(of subject: Withdrawal.Subject) -> UInt32? {
        let index = subject.kind == .client ? names.clients : profiles
        return index.existingNumber(of: subject.id.lowercased.string, system: subject.system).map { UInt32($0) }
    }
}

/// A collection of withdrawals that contains one of each kind for each subject.
///
/// If several captures contain a withdrawal of the same kind and subject, the one that sorts first is kept, so that the
/// result does not depend on the order of the bundles.
struct WithdrawalTable: Sendable {
    private struct Key: Hashable {
        let reason: Withdrawal.Reason
        let subject: Withdrawal.Subject
    }

    private struct Fact {
        let withdrawal: Withdrawal
        /// Whether the withdrawal was only derived from a held record.
        let isDerived: Bool

        /// Returns whether this fact is kept instead of `other`.
        ///
        /// A file that contains the fact takes precedence over records that are held because of it.
        func precedes(_ other: Fact) -> Bool {
            guard isDerived == other.isDerived else { return other.isDerived }
            return location < other.location
        }

        private var location: (capture: CapturedText, path: CapturedText) {
            (CapturedText(withdrawal.capture), CapturedText(withdrawal.path))
        }
    }

    private var facts: [Key: Fact] = [:]

    var isEmpty: Bool { facts.isEmpty }

    /// The kind and the subject of each withdrawal, in an arbitrary order.
    var keys: some Sequence<(reason: Withdrawal.Reason, subject: Withdrawal.Subject)> {
        // The caller must not depend on the order.
        facts.keys.lazy.map { ($0.reason, $0.subject) }
    }

    /// The final withdrawals, sorted by system, kind, id and reason.
    var sortedFinal: [Withdrawal] {
        facts.values.lazy.map(\.withdrawal).filter(\.reason.isFinal).sorted { left, right in
            let (one, other) = (left.subject, right.subject)
            return (one.system, one.kind.rawValue, one.id, left.reason.rawValue)
                < (other.system, other.kind.rawValue, other.id, right.reason.rawValue)
        }
    }

    subscript(reason: Withdrawal.Reason, subject: Withdrawal.Subject) -> Withdrawal? {
        facts[Key(reason: reason, subject: subject)]?.withdrawal
    }

    /// Adds `withdrawal`, where `isDerived` specifies whether it was only derived from a held record.
    mutating func insert(_ withdrawal: Withdrawal, isDerived: Bool) {
        insert(Fact(withdrawal: withdrawal, isDerived: isDerived))
    }

    /// Adds the withdrawals of `other`.
    mutating func formUnion(_ other: WithdrawalTable) { for fact in other.facts.values { insert(fact) } }

    private mutating func insert(_ new: Fact) {
        let key = Key(reason: new.withdrawal.reason, subject: new.withdrawal.subject)
        guard let known = facts[key], !new.precedes(known) else { return facts[key] = new }
    }
}

/// The kinds of withdrawals that apply to a record.
struct WithdrawalKinds: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// The kinds that hold a record.
    ///
    /// A requested deletion is a ``Disposition`` instead of a hold.
    static let holds: WithdrawalKinds = [WithdrawalKinds(.forgotten), WithdrawalKinds(.optedOut)]
    static let deletionRequested = WithdrawalKinds(.deletionRequested)
    static let optedOut = WithdrawalKinds(.optedOut)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ reason: Withdrawal.Reason) {
        switch reason {
        case .forgotten: rawValue = 1
        case .deletionRequested: rawValue = 2
        case .optedOut: rawValue = 4
        }
    }

    /// The reasons of the kinds, in the order in which hold codes are added to a record.
    var reasons: [Withdrawal.Reason] { Withdrawal.Reason.allCases.filter { contains(WithdrawalKinds($0)) } }
}
