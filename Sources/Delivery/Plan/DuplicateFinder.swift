import Telemetry

/// The result of a search for candidates that represent the same upload or have the same id.
struct DuplicateFinder {
    /// The result of the search for one candidate.
    struct Mark {
        /// Whether another candidate with the same key is used instead.
        var isDuplicate = false
        /// Whether a candidate with another key has the same id.
        var sharesIdentity = false
    }

    private var marks: [Mark]
    /// The index of each duplicate, with the index of the candidate that is used instead.
    private(set) var replacements: [(index: UInt32, number: UInt32)] = []

    /// Examines `candidates`, where `order` contains their indices in sending order.
    ///
    /// If several candidates have the same key, the one whose holds have the lowest `CopyRank` is used, and of equals the
    /// first one. Holds that the operator has released count, so that a release does not change which copy is used.
    init(_ candidates: CandidateList, order: [UInt32], names: PlanNames) {
        marks = Array(repeating: Mark(), count: candidates.count)
        var ranks = Array(repeating: UInt32(0), count: candidates.count)
        for (rank, index) in order.enumerated() { ranks[Int(index)] = UInt32(clamping: rank) }
        let byKey = order.sorted { left, right in
            let (first, second) = (candidates[Int(left)].key, candidates[Int(right)].key)
            return first == second ? ranks[Int(left)] < ranks[Int(right)] : first < second
        }
        var start = 0
        while start < byKey.count {
            let identity = candidates[Int(byKey[start])].key.identity
            let end = byKey[start...].firstIndex { candidates[Int($0)].key.identity != identity } ?? byKey.count
            markGroup(byKey[start..<end], candidates, names)
            start = end
        }
    }

    subscript(index: Int) -> Mark { marks[index] }

    private mutating func markGroup(
        _ group: ArraySlice<UInt32>, _ candidates: CandidateList, _ names: PlanNames
    ) {
        guard let first = group.first, let last = group.last, group.count > 1 else { return }
        let isShared = candidates[Int(first)].key != candidates[Int(last)].key
        var start = group.startIndex
        while start < group.endIndex {
            let key = candidates[Int(group[start])].key
            let end = group[start...].firstIndex { candidates[Int($0)].key != key } ?? group.endIndex
            // The first of several minimums is used.
            let representative =
                group[start..<end].min {
                    names.copyRank(of: candidates[Int($0)]) < names.copyRank(of: candidates[Int($1)])
                } ?? group[start]
            for index in group[start..<end] {
                marks[Int(index)] = Mark(isDuplicate: index != representative, sharesIdentity: isShared)
                if index != representative { replacements.append((index, representative)) }
            }
            start = end
        }
    }
}
