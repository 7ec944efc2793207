import Telemetry

/// The number of uploads that the limits still allow.
struct Quota {
    private let limits: UploadLimits
    private var usedCounts: [Int]
    private var typeCounts: [BucketAndType: Int] = [:]

    private struct BucketAndType: Hashable {
        let bucket: Int
        let type: UInt32
    }

    /// Creates the quota that is left for today after the uploads of earlier jobs, which are stored in `state`.
    init(_ limits: UploadLimits, used state: LedgerState, names: PlanNames) {
        self.limits = limits
        usedCounts =
            switch limits.scope {
            case .client: names.clients.values.map { state.usedQuotas[$0] ?? 0 }
            case .job: [state.usedQuotas.values.reduce(0, +)]
            }
    }

    /// Counts an upload toward the limits, or returns the reason why it has to wait.
    mutating func reserve(client: UInt32, type: UInt32, isCounted: Bool) -> Disposition? {
        let bucket = limits.scope == .client ? Int(client) : 0
        let slot = BucketAndType(bucket: bucket, type: type)
        if let daily = limits.daily, !isCounted, usedCounts[bucket] >= daily { return .dailyLimit }
        if let perType = limits.perType, typeCounts[slot, default: 0] >= perType { return .typeLimit }
        if !isCounted { usedCounts[bucket] += 1 }
        typeCounts[slot, default: 0] += 1
        return nil
    }
}
