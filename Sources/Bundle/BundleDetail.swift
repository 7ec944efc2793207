import JSONText
import Telemetry

/// What stands on a line of one of a bundle's details.
public protocol BundleDetail {
    /// Reads a line; nil if it is none.
    init?(json bytes: [UInt8])
    /// The line as canonical JSON.
    var json: CanonicalObject { get }
}

extension ClientSummary: BundleDetail {}
extension PlacedProblem: BundleDetail {}
extension Quarantined: BundleDetail {}

extension BundleReader {
    /// The entries of one of the members that hold details, checked against its hash.
    ///
    /// - Parameters:
    ///   - type: what stands on its lines.
    ///   - name: ``BundleLayout/quarantine``, ``BundleLayout/problems`` or ``BundleLayout/clients``.
    /// - Throws: ``BundleError``; `badRecord` for a line that is not as this program writes it.
    public func details<Entry: BundleDetail>(
        _ type: Entry.Type = Entry.self, of name: String, with decoder: inout FrameDecoder
    ) throws(BundleError) -> [Entry] {
        let contents = try contents(of: name, with: &decoder)
        var lines = contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // What follows the last line feed is nothing.
        let rest = lines.removeLast()
        var entries: [Entry] = []
        entries.reserveCapacity(lines.count)
        for (index, line) in lines.enumerated() {
            guard let entry = Entry(json: Array(line)), entry.json.bytes.elementsEqual(line) else {
                throw .badRecord(member: name, line: index + 1, reason: "not in the form of this list")
            }
            entries.append(entry)
        }
        guard rest.isEmpty else {
            throw .badRecord(member: name, line: lines.count + 1, reason: "no line feed at the end")
        }
        return entries
    }
}
