import Hashing
import Telemetry

/// A planner that decides which records a job sends.
///
/// The decision depends only on the records, the state of the ledger, the rules, the available credentials and the
/// time. Records are sent in the order in which the device queued them, and records of unknown time last. Records with
/// equal times are sent in the order of the bundles, parents first. A system can define types whose records are sent before all other
/// records of a client. If a client or profile requested the deletion of its data, no other records of it are sent. See
/// `Precedence` and `Withdrawal`. The plan does not depend on the order of the bundles, nor on how the records are
/// divided among them, except for the order of records with equal times.
///
/// ```swift
/// let bundles = try await VerifiedBundles(
///     paths, knowing: Systems.table, limit: JobLimit(jobs: 2), isReleased: { _, _ in false })
/// let plan = Planner.plan(bundles.pool, LedgerState(), rules: PlanRules(), now: now)
/// for send in plan.queues.flatMap(\.sends) { records.append(try bundles.source.record(of: send)) }
/// ```
///
/// Source: "Delivery", "Copies and withdrawals" and "Limits".
public struct Planner {
    private let pool: CandidatePool
    private let decisions: PoolDecisions
    private let state: LedgerState
    private let rules: PlanRules
    private let now: Timestamp
    private let today: Int
    /// For each traits index, whether the account of the records has a credential.
    private let traitsHaveCredential: [Bool]
    /// For each type index, whether the server of the type requested a pause.
    private let typeIsPaused: [Bool]

    private var quota: Quota
    /// The identities of the records to send, if other records have the same identity.
    private var sentIdentities: Set<Digest16> = []
    private var sentItems: Set<Digest16> = []
    private var inFlightByIdentity: [Digest16: [(key: RecordKey, time: Timestamp)]] = [:]
    private var plan: Plan

    /// Returns the plan for the records of `pool` at the time `now`.
    public static func plan(
        _ pool: CandidatePool, _ state: LedgerState, rules: PlanRules, now: Timestamp,
        hasCredential: (Account) -> Bool = { _ in true }
    ) -> Plan {
        var planner = Planner(pool, state, rules, now, hasCredential)
        planner.decideAll()
        return planner.plan
    }

    private init(
        _ pool: CandidatePool, _ state: LedgerState, _ rules: PlanRules, _ now: Timestamp,
        _ hasCredential: (Account) -> Bool
    ) {
        (self.pool, self.state, self.rules, self.now) = (pool, state, rules, now)
        decisions = PoolDecisions(pool, state)
        today = rules.days.day(of: now)
        traitsHaveCredential = pool.traits.values.map { $0.account.map(hasCredential) ?? true }
        quota = Quota(rules.limits, used: state, names: pool.names)
        for (key, flight) in state.inFlight {
            inFlightByIdentity[key.identity, default: []].append((key, flight.time))
        }
        plan = Plan(decisions, rules: rules, now: now)
        let pauses = state.pauses.filter { $0.isActive(at: now) }
        let addresses = pool.names.types.values.map { rules.servers[$0]?.endpoint.address }
        typeIsPaused = addresses.map { address in pauses.contains { $0.endpoint == address } }
        plan.pauses = pauses.filter { addresses.contains($0.endpoint) }
    }

    private mutating func decideAll() {
        plan.dispositions = Array(repeating: .held, count: pool.count)
        for index in decisions.order {
            plan.dispositions[index] = decisions.usedCopy(of: index) == index ? decide(recordAt: index) : .duplicate
            plan.groupCounts[plan.group(ofRecordAt: index), default: 0] += 1
        }
        plan.queues.sortByClient()
    }

    private mutating func decide(recordAt index: Int) -> Disposition {
        let candidate = pool.candidates[index]
        let sharesIdentity = decisions.duplicates.indicesWithSharedIdentity.contains(index)
        let history = state.history(of: index)
        switch history.outcome {
        case .delivered: return .delivered
        case .refused: return .refused
        case .givenUp: return .givenUp
        case nil: break
        }
        if decisions.isDeletionRequested(index) { return .deletionRequested }
        if !decisions.holdCodes(of: index).isEmpty { return .held }
        if isTooOld(candidate) { return .tooOld }
        if state.setAside.contains(candidate.key) { return .setAside }
        if sharesIdentity, sentIdentities.contains(candidate.key.identity) { return .sameIDSentRecently }
        if let sent = history.otherPayloadTime, PlanRules.isRecent(sent, at: now) { return .sameIDSentRecently }
        if isOtherPayloadInFlight(candidate) { return .sameIDSentRecently }
        if !traitsHaveCredential[Int(candidate.traitsIndex)] { return .missingCredential }
        if typeIsPaused[Int(candidate.typeIndex)] { return .serverPause }
        let disposition =
            candidate.itemIndices.map { planList(candidate, at: index, items: $0) } ?? planRecord(candidate, at: index)
        if sharesIdentity, disposition == .send { sentIdentities.insert(candidate.key.identity) }
        return disposition
    }

    private func isTooOld(_ candidate: Candidate) -> Bool {
        guard let maximum = rules.maximumAge, let time = candidate.time else { return false }
        return now.milliseconds - time > maximum
    }

    /// Returns whether another payload with the id of `candidate` was recently marked as in flight.
    private func isOtherPayloadInFlight(_ candidate: Candidate) -> Bool {
        // Parts of the same list are not other payloads, because a list has no id for the server.
        guard candidate.itemIndices == nil, let flights = inFlightByIdentity[candidate.key.identity] else {
            return false
        }
        return flights.contains { $0.key != candidate.key && PlanRules.isRecent($0.time, at: now) }
    }

    // MARK: Uploads

    private mutating func planRecord(_ candidate: Candidate, at index: Int) -> Disposition {
        if let reason = reserveQuota(candidate, key: candidate.key) { return reason }
        plan.queues.append(recordAt: index)
        return .send
    }

    /// Plans uploads for those events of a list that are neither settled nor part of another upload.
    private mutating func planList(_ candidate: Candidate, at index: Int, items: Range<Int>) -> Disposition {
        let refused = state.refusedItems[candidate.key] ?? []
        let unsettled = items.filter { !state.isDelivered(item: $0) && !refused.contains(pool.items[$0].key) }
        let left = unsettled.filter { !sentItems.contains(pool.items[$0].key) }
        guard !left.isEmpty else {
            guard unsettled.isEmpty else { return .overlapping }
            plan.settlements.append(candidate)
            return refused.isEmpty ? .settle : .refused
        }
        // The format is never missing, because only records of systems with a list format have items.
        guard let list = pool.systems[pool.names.types[candidate.typeIndex].system]?.uploads.list else { return .held }
        let parts = parts(of: left, list)
        for (number, part) in parts.enumerated() {
            let sent = part.map { SentItem(index: $0 - items.lowerBound, key: pool.items[$0].key) }
            let key = part.count == items.count ? candidate.key : candidate.key.partKey(for: sent)
            // The parts before this one are already in the plan.
            if let reason = reserveQuota(candidate, key: key) { return number == 0 ? reason : .sendPart }
            for item in sent { sentItems.insert(item.key) }
            plan.queues.append(
                PlannedUpload(
                    record: candidate, key: key, items: sent, completesRecord: number == parts.count - 1,
                    followsRefusal: !refused.isEmpty), ofListAt: index)
        }
        return .send
    }

    /// Splits `items` into uploads within the limits, except that a single large item may exceed the size limit.
    private func parts(of items: [Int], _ list: ListFormat) -> [[Int]] {
        let itemLimit = min(list.maximumItems, rules.maximumListItems)
        let frameSize = ListItems.payloadOpening(of: list).count + ListItems.payloadClosing.count
        var parts: [[Int]] = []
        var partSize = 0
        for item in items {
            let size = Int(pool.items[item].size) + 1
            if let count = parts.last?.count, count < itemLimit, partSize + size + frameSize <= rules.maximumListBytes {
                parts[parts.count - 1].append(item)
                partSize += size
            } else {
                parts.append([item])
                partSize = size
            }
        }
        return parts
    }

    /// Counts an upload toward the limits and returns `nil`, or returns the reason why the upload has to wait.
    private mutating func reserveQuota(_ candidate: Candidate, key: RecordKey) -> Disposition? {
        let isCounted =
            state.inFlight[key]?.isCounted(for: pool.names.clients[candidate.clientIndex], on: today) ?? false
        return quota.reserve(client: candidate.clientIndex, type: candidate.typeIndex, isCounted: isCounted)
    }
}

extension CandidatePool {
    /// The indices of all records in the order in which they are sent.
    var sendingOrder: [Int] {
        let typeTakesPrecedence = names.types.values.indices.map { takesPrecedence(typeIndex: UInt32($0)) }
        func rank(_ index: Int) -> (Int, Int64, UInt32, Int) {
            let candidate = candidates[index]
            let bundle = position(ofBundle: candidate.location.bundleIndex)
            return (typeTakesPrecedence[Int(candidate.typeIndex)] ? 0 : 1, candidate.sortTime, bundle, index)
        }
        return candidates.indices.sorted { rank($0) < rank($1) }
    }

    /// Returns whether records of the type at index `type` are sent before all other records of their client.
    func takesPrecedence(typeIndex type: UInt32) -> Bool {
        let name = names.types[type]
        return systems.precedence(of: name.system).first.contains(name.name)
    }
}

/// A counter of the uploads that the limits still allow.
private struct Quota {
    private let limits: UploadLimits
    private var usedCounts: [UInt32]
    private var typeCounts: [BucketAndType: UInt32] = [:]

    private struct BucketAndType: Hashable {
        let bucket: UInt32
        let type: UInt32
    }

    /// Creates the quota that is left for today after the uploads of earlier jobs that `state` contains.
    init(_ limits: UploadLimits, used state: LedgerState, names: PlanNames) {
        self.limits = limits
        switch limits.scope {
        case .client:
            usedCounts = Array(repeating: 0, count: names.clients.count)
            for (client, used) in state.usedQuotas {
                if let number = names.clients.existingNumber(of: client) {
                    usedCounts[number] += UInt32(clamping: used)
                }
            }
        case .job: usedCounts = [UInt32(clamping: state.usedQuotas.values.reduce(0, +))]
        }
    }

    /// Counts an upload toward the limits and returns `nil`, or returns the reason why the upload has to wait.
    mutating func reserve(client: UInt32, type: UInt32, isCounted: Bool) -> Disposition? {
        let bucket = limits.scope == .client ? client : 0
        let slot = BucketAndType(bucket: bucket, type: type)
        if let daily = limits.daily, !isCounted, usedCounts[Int(bucket)] >= daily { return .dailyLimit }
        if let perType = limits.perType {
            if typeCounts[slot, default: 0] >= perType { return .typeLimit }
            typeCounts[slot, default: 0] += 1
        }
        if !isCounted { usedCounts[Int(bucket)] += 1 }
        return nil
    }
}
