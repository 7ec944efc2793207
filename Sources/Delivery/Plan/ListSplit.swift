import Telemetry

/// Cuts a list in requests that are not too large.
struct ListSplit {
    private let mostBytes: Int
    private let mostItems: Int
    private let frame: Int

    init(_ rules: PlanRules, _ list: ListFormat) {
        mostBytes = rules.largestList
        mostItems = min(list.mostItems, rules.mostListItems)
        frame = ListItems.opening(list).count + ListItems.closing.count
    }

    /// The places of the items of each request, in order. An item that is too large by itself has a request of its own.
    func parts(_ items: [(place: Int, count: Int)]) -> [[Int]] {
        var parts: [[Int]] = []
        var part: [Int] = []
        var bytes = 0
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
