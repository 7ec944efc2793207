import Telemetry

/// How far the records of one bundle have come: whether it has done its work, and what is left of it.
///
/// A bundle is done when no job could send anything more of it. What is held as it stands does not keep it from being done, for
/// no job sends it; what was refused does, until somebody retries it or gives it up.
public struct BundleStatus: Sendable {
    /// The bundle.
    public let name: BundleName
    /// How many records it has.
    public private(set) var records = 0
    /// Records of which all was delivered, in this or in another bundle.
    public private(set) var delivered = 0
    /// Records that are not to be sent any more.
    public private(set) var excluded = 0
    /// Records that a server refused, by its answers: `400 no such user`.
    public private(set) var refused: [String: Int] = [:]
    /// Records that were in flight when a job ended, and of which nothing more is known.
    public private(set) var inFlight = 0
    /// Records that are held, by the codes for which they are; one that is held for several counts for each.
    public private(set) var held: [String: Int] = [:]
    /// Records that wait for a later job.
    public private(set) var waiting: [WaitReason: Int] = [:]

    /// Whether the bundle has done its work.
    public var isDone: Bool { refused.isEmpty && inFlight == 0 && waiting.isEmpty }

    /// Whether what is left goes with later jobs, without anybody doing anything.
    public var canFinishUnattended: Bool {
        refused.isEmpty && waiting.keys.allSatisfy { !Self.operatorCodes.contains($0.code) }
    }

    private static let operatorCodes: Set<String> = [Disposition.tooOld.code, Disposition.missingCredential.code]

    /// Counts the records of each bundle of a pool.
    /// - Parameter statuses: how far each record has come, in the order of the pool.
    public static func all(of pool: CandidatePool, _ statuses: [RecordStatus]) -> [BundleStatus] {
        var bundles = pool.bundles.map { BundleStatus(name: $0) }
        for (candidate, status) in zip(pool.candidates, statuses) {
            let place = Int(candidate.location.bundle)
            if bundles.indices.contains(place) { bundles[place].count(status) }
        }
        return bundles
    }

    private init(name: BundleName) { self.name = name }

    private mutating func count(_ status: RecordStatus) {
        records += 1
        switch status {
        case .delivered: delivered += 1
        case .excluded: excluded += 1
        case .refused(let answer): refused[answer, default: 0] += 1
        case .held(let codes): for code in codes { held[code, default: 0] += 1 }
        case .inFlight: inFlight += 1
        case .waiting(let reason): waiting[reason, default: 0] += 1
        }
    }
}

extension CandidatePool {
    /// Whether records of a type, by its number, go before all others of their client.
    func takesPrecedence(_ type: UInt32) -> Bool {
        let name = names.types[type]
        return systems.precedence(of: name.system).first.contains(name.name)
    }
}
