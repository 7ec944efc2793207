import Bytes
import Telemetry

/// The delivery status of one bundle: whether it is done, and the number of its records in each state.
///
/// A bundle is done if no job could send any more of its records. Held records and those that are too old do not matter,
/// because no job sends them. A bundle with refused records is not done, because the operator can retry these records or give them up.
public struct BundleStatus: Sendable {
    /// The path and digest of the bundle.
    public let name: BundleName
    /// The number of records in the bundle.
    public private(set) var recordCount = 0
    /// The number of records that were delivered completely, from this or another bundle.
    public private(set) var deliveredCount = 0
    /// The number of records that will never be sent, as described in ``RecordStatus/excluded``.
    public private(set) var excludedCount = 0
    /// The number of refused records, by the server's answer, such as `400 no such user`.
    public private(set) var refusedCounts: [CapturedText: Int] = [:]
    /// The number of records in flight whose outcome is unknown.
    public private(set) var inFlightCount = 0
    /// The number of held records for each of their hold codes.
    public private(set) var heldCounts: [CapturedText: Int] = [:]
    /// The number of records that wait for a later job, by reason.
    public private(set) var waitingCounts: [WaitReason: Int] = [:]
    /// The number of records that were too old for the last job.
    public private(set) var tooOldCount = 0
    /// The number of records for each withdrawal or copy because of which they are not sent.
    public private(set) var factCounts: [DecidingFact: Int] = [:]

    /// Whether no job could send any more records of the bundle.
    public var isDone: Bool { refusedCounts.isEmpty && inFlightCount == 0 && waitingCounts.isEmpty }

    /// Whether later jobs can send the remaining records without action by the operator.
    public var canFinishUnattended: Bool {
        refusedCounts.isEmpty && waitingCounts.keys.allSatisfy { !Self.operatorActionCodes.contains($0.code) }
    }

    private static let operatorActionCodes = Set(
        texts: [Disposition.setAside.code, Disposition.missingCredential.code])

    /// Returns the status of each bundle of a pool.
    public static func allStatuses(of status: PoolStatus) -> [BundleStatus] {
        var bundles = status.pool.bundles.map { BundleStatus(name: $0) }
        for (index, candidate) in status.pool.candidates.enumerated() {
            let bundle = Int(candidate.location.bundleIndex)
            guard bundles.indices.contains(bundle) else { continue }
            bundles[bundle].count(status.records[index])
            if let fact = status.decidingFact(of: index) { bundles[bundle].factCounts[fact, default: 0] += 1 }
        }
        return bundles
    }

    private init(name: BundleName) { self.name = name }

    private mutating func count(_ status: RecordStatus) {
        recordCount += 1
        switch status {
        case .delivered: deliveredCount += 1
        case .excluded: excludedCount += 1
        case .refused(let answer): refusedCounts[answer, default: 0] += 1
        case .held(let codes): for code in codes { heldCounts[code, default: 0] += 1 }
        case .inFlight: inFlightCount += 1
        case .waiting(let reason) where reason.code == Disposition.tooOld.code: tooOldCount += 1
        case .waiting(let reason): waitingCounts[reason, default: 0] += 1
        }
    }
}

extension CandidatePool {
    /// Returns whether records of the type at index `type` are sent before all other records of their client.
    func takesPrecedence(typeIndex type: UInt32) -> Bool {
        let name = names.types[type]
        return systems.precedence(of: name.system).first.contains(name.name)
    }
}
