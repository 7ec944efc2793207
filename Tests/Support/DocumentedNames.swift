import Foundation
import JSONText
import Telemetry

/// Returns the names in backticks in a table column of a section of a format document.
///
/// - Parameters:
///   - article: The path of the document below `Sources`, such as `Systems/Sift/Sift.docc/SiftStores.md`.
///   - section: The start of the heading, such as `### 5.1 `. The section ends at the next heading.
///   - column: The index of the column, counted from 0.
/// - Returns: The names in the order of the document.
/// - Throws: An error if the document cannot be read.
public func documentedNames(in article: String, section: String, column: Int = 0) throws -> [String] {
    let text = try String(contentsOfFile: "\(repository)/Sources/\(article)", encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let start = lines.firstIndex(where: { $0.hasPrefix(section) }) else { return [] }
    let rows = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }.filter { $0.hasPrefix("|") }
    return rows.flatMap { row in
        let cells = row.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
        guard cells.count > column else { return [String]() }
        return cells[cells.startIndex + column].matches(of: /`"?([A-Za-z0-9_.$-]+)"?[^`]*`/).map { String($0.1) }
    }
}

extension PseudonymTable {
    /// Returns the rule for `key`, or `nil` if the table has none.
    public subscript(key: String) -> PseudonymRule? { fields.first { $0.key == JSONKey(key) }?.rule }
}

extension PseudonymRule {
    /// The table of an object, of the objects in a list, or of an object in a JSON string.
    public var table: PseudonymTable? {
        switch self {
        case .object(let table): table
        case .list(let rule), .json(let rule): rule.table
        case .keep, .time, .pseudonym, .drop, .tuple, .map: nil
        }
    }

    /// Whether the rule omits the value.
    public var isDrop: Bool { if case .drop = self { true } else { false } }
}
