import Telemetry

/// Cuts a list in requests that are not too large.
struct ListSplit {
    private let mostBytes: Int
    private let mostItems: Int

    init(_ rules: PlanRules, system: TelemetrySystem) {
        mostBytes = rules.largestList
        mostItems = system == .leanplum ? rules.mostLeanplumRequests : Int.max
    }

    /// The places of the items of each request, in order. An item that is too large by itself has a request of its own.
    func parts(_ items: [(place: Int, count: Int)]) -> [[Int]] {
        var parts: [[Int]] = []
        var part: [Int] = []
        var bytes = 0
        let frame = ListItems.opening.count + ListItems.closing.count
        for item in items {
            if !part.isEmpty, part.count >= mostItems || bytes + item.count + 1 + frame > mostBytes {
                parts.append(part)
                (part, bytes) = ([], 0)
            }
            part.append(item.place)
            bytes += item.count + 1
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }
}
