/// Finds the words that somebody may have meant.
public enum SimilarWords {
    /// The words that are at most two changes away from a given one, and at most one for short words; the nearest first.
    public static func near(_ word: String, among words: [String]) -> [String] {
        words.map { (word: $0, changes: changes(from: Array(word.utf8), to: Array($0.utf8))) }
            .filter { $0.changes <= ($0.word.utf8.count > 4 ? 2 : 1) }
            .sorted { ($0.changes, $0.word) < ($1.changes, $1.word) }
            .map(\.word)
    }

    /// How many bytes have to be put in, taken out, changed or swapped with the next one to come from one word to another.
    ///
    /// Source: Damerau, "A technique for computer detection and correction of spelling errors" (1964).
    static func changes(from first: [UInt8], to second: [UInt8]) -> Int {
        // A file name may be long; no command is.
        guard first.count <= 32 else { return .max }
        var rows = [Array(0...second.count)]
        for (i, byte) in first.enumerated() {
            var row = [i + 1]
            for (j, other) in second.enumerated() {
                var best = min(rows[i][j] + (byte == other ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, byte == second[j - 1], first[i - 1] == other {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
