import ArgumentParser

/// Some segments of a bundle, counted from 1 as in their names: `2-5`, `2-` for all from the second on, or `2`.
struct SegmentRange: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let first: Int
    /// nil for the last one that there is.
    let last: Int?

    init?(argument: String) {
        let parts = argument.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = Self.number(parts[0]) else { return nil }
        self.first = first
        switch parts.count {
        case 1: last = first
        case 2 where parts[1].isEmpty: last = nil
        default:
            guard let last = Self.number(parts[1]), last >= first else { return nil }
            self.last = last
        }
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), number > 0
        else { return nil }
        return number
    }

    var description: String { last == first ? "\(first)" : "\(first)-\(last.map(String.init) ?? "")" }

    /// The places of the segments, counted from 0, in a bundle that has so many; nil if it has not all of them.
    func indices(ofSegments count: Int) -> Range<Int>? {
        let last = last ?? count
        return first <= count && last <= count ? first - 1..<last : nil
    }
}
