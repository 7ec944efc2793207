import Telemetry

/// The codes of holds with their sentences, for help.
enum HoldGuide {
    /// A line for each code.
    static let help: String = {
        let width = HoldMeaning.all.map(\.code.count).max() ?? 0
        return HoldMeaning.all.map { meaning in
            let padding = String(repeating: " ", count: width - meaning.code.count)
            return "  \(meaning.code)\(padding)  \(meaning.text)"
        }.joined(separator: "\n")
    }()
}
