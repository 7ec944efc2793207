import Telemetry

/// A counter of the uploads that the limits still allow.
struct Quota {
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
