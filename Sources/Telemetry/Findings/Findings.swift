import Bytes

/// The notes and faults that are found in a payload.
///
/// The number of notes is limited, because a payload can have any number of members that are changed in the same way.
/// The notes beyond the limit are counted by their case ids.
package struct Findings {
    /// The first notes, at most ``maximumNoteCount``.
    private var firstNotes: [String] = []
    /// The numbers of further notes with their case ids, in the order of the first occurrence of each case id.
    private var furtherNotes: [(caseID: CapturedText, count: Int)] = []
    /// The first reasons why the payload does not have the documented form, at most ``maximumFaultCount``.
    package var faults: [String] = []

    /// The maximum number of faults that are kept.
    package static let maximumFaultCount = 8
    /// The maximum number of notes that are kept in full.
    package static let maximumNoteCount = 100
    /// The maximum number of case ids by which further notes are counted.
    ///
    /// No system has more case ids.
    private static let maximumCaseCount = 64

    package init() {}

    /// The notes on changes and unexpected values.
    ///
    /// Each note consists of a case id, a space and free text. If there are too many notes, the last ones state the
    /// number of further notes with each case id, such as `C8 59900 more notes`.
    package var notes: [String] { firstNotes + furtherNotes.map { "\($0.caseID) \($0.count) more notes" } }

    package mutating func note(_ text: String) {
        guard firstNotes.count >= Self.maximumNoteCount else { return firstNotes.append(text) }
        let caseID = CapturedText(decoding: text.utf8.prefix { !" :@".utf8.contains($0) })
        if let known = furtherNotes.firstIndex(where: { $0.caseID == caseID }) {
            furtherNotes[known].count += 1
        } else if furtherNotes.count < Self.maximumCaseCount {
            furtherNotes.append((caseID, 1))
        } else {
            furtherNotes[furtherNotes.count - 1].count += 1
        }
    }

    package mutating func fault(_ text: String) {
        if faults.count < Self.maximumFaultCount { faults.append(text) }
    }

    /// The hold for a payload with faults, or `nil` if there are no faults.
    package var hold: Hold? { faults.isEmpty ? nil : .schema(faults) }
}
