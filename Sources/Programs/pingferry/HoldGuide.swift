import Systems
import Telemetry

/// The codes of holds with their sentences, for help.
enum HoldGuide {
    static let help: String = {
        let codes = Systems.table.holdCodes
        let width = codes.map(\.code.count).max() ?? 0
        return codes.map { code in
            let padding = String(repeating: " ", count: width - code.code.count)
            return "  \(code.code)\(padding)  \(code.meaning)"
        }.joined(separator: "\n")
    }()
}
