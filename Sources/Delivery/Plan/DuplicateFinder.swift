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

    /// Examines `candidates`, where `order` contains their indices in sending order.
    ///
    /// If several candidates have the same key, one of them is used. If a request log shows that one was already
    /// delivered, that candidate is used, so that none is sent again. If not, the first candidate that may be sent is
    /// used.
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
            let representative = Self.representative(group[start..<end], candidates, names)
            for index in group[start..<end] {
                marks[Int(index)] = Mark(isDuplicate: index != representative, sharesIdentity: isShared)
            }
            start = end
        }
    }

    private static func representative(
        _ equals: ArraySlice<UInt32>, _ candidates: CandidateList, _ names: PlanNames
    ) -> UInt32? {
        func hasArrived(_ index: UInt32) -> Bool {
            candidates[Int(index)].holdsIndex.map { names.holds[$0].contains("delivered") } ?? false
        }
        return equals.first(where: hasArrived) ?? equals.first { candidates[Int($0)].holdsIndex == nil } ?? equals.first
    }
}
