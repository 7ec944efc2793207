import ArgumentParser
import Bytes

/// A range of segments numbered from 1, such as `2-5`, `2`, or `2-` for all segments from the second.
struct SegmentRange: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let first: Int
    /// The number of the last segment, or `nil` for the end of the bundle.
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
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit), let number = Int(text), number > 0
        else { return nil }
        return number
    }

    var description: String { last == first ? "\(first)" : "\(first)-\(last.map(String.init) ?? "")" }

    /// Returns the range as indices into a bundle with `count` segments, or `nil` if the bundle has too few segments.
    func indices(ofSegments count: Int) -> Range<Int>? {
        let last = last ?? count
        return first <= count && last <= count ? first - 1..<last : nil
    }
}
