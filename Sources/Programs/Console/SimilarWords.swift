/// A search for words that a misspelled word may stand for.
public enum SimilarWords {
    /// Returns the elements of `words` that are similar to `word`, the most similar ones first.
    public static func matches(for word: String, among words: [String]) -> [String] {
        words.map { (word: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
            .filter { $0.distance <= ($0.word.utf8.count > 4 ? 2 : 1) }
            .sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }
            .map(\.word)
    }

    /// Returns the number of single-byte insertions, deletions, replacements and swaps that turn `first` into `second`.
    ///
    /// Source: Damerau, "A technique for computer detection and correction of spelling errors" (1964).
    private static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        // The word may be a long file name, but no command is that long.
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
