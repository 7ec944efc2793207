import Foundation
import JSONText
import Telemetry

/// The names in backticks in a column of the tables of a section of a format document.
/// - Parameters:
///   - article: its path below the sources, such as `Systems/Sift/Sift.docc/SiftStores.md`.
///   - section: the beginning of its heading, such as `### 5.1 `. The section ends at the next heading.
///   - column: which column, from 0.
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
    /// The rule of a key; nil if the table does not name it.
    public subscript(key: String) -> PseudonymRule? { fields.first { $0.key == JSONKey(key) }?.rule }
}

extension PseudonymRule {
    /// The table of an object, of the objects in a list, or of an object in a text.
    public var table: PseudonymTable? {
        switch self {
        case .object(let table): table
        case .list(let rule), .json(let rule): rule.table
        case .keep, .pseudonym, .drop, .tuple, .map: nil
        }
    }

    /// Whether it leaves out everything.
    public var isDrop: Bool { if case .drop = self { true } else { false } }
}
