import Bytes
import Systems
import Telemetry

/// The tables of pseudonymization rules in the form of the article "Pseudonyms".
public enum PseudonymArticle {
    /// All tables in Markdown, each with a heading, in the order of the systems.
    public static var tables: String {
        var sections: [String] = []
        for system in Systems.table.all {
            for (types, table) in system.pseudonyms?.tables ?? [] {
                sections.append(
                    "### \(system.name): \(types.joined(separator: ", "))\n\n| field | treatment |\n| --- | --- |\n"
                        + rows(of: table, "").map { "| `\($0.path)` | \($0.words) |\n" }.joined())
            }
        }
        return sections.joined(separator: "\n")
    }

    private typealias Row = (path: String, words: String)

    private static func rows(of table: PseudonymTable, _ prefix: String) -> [Row] {
        table.fields.flatMap { rows(of: $0.rule, "\(prefix)\($0.key)") }
    }

    private static func rows(of rule: PseudonymRule, _ path: String) -> [Row] {
        switch rule {
        case .keep(let form, let substitute): [(path, "kept: \(form.words)\(words(substitute))")]
        case .time(let form, let substitute): [(path, "time: \(form.words)\(words(substitute))")]
        case .pseudonym(let kind): [(path, "pseudonym: \(kind.name)")]
        case .drop: [(path, "omitted")]
        case .object(let table): rows(of: table, path + ".")
        case .list(let rule): rows(of: rule, path + "[]")
        case .tuple(let rules): rules.enumerated().flatMap { rows(of: $1, "\(path)[\($0)]") }
        case .map(let keys, let rule): rows(of: rule, "\(path).<\(words(keys))>")
        case .json(let rule): rows(of: rule, path + " as JSON")
        }
    }

    private static func words(_ substitute: PseudonymRule.Substitute) -> String {
        switch substitute {
        case .nothing: ""
        case .text(let text): ", else `\(text)`"
        case .pseudonym(let kind): ", else pseudonym: \(kind.name)"
        }
    }

    private static func words(_ keys: PseudonymRule.KeyRule) -> String {
        switch keys {
        case .form(let form): form.words
        case .dottedKey(let words, _, let kind):
            "\(words.sortedStrings.joined(separator: ", "))>.<documented word, else pseudonym: \(kind.name)"
        }
    }
}

extension KeptForm {
    /// The description of the form.
    fileprivate var words: String {
        switch self {
        case .number, .anyNumber: "number"
        case .boolean: "boolean"
        case .flag: "`true` or `false` as a string"
        case .decimal: "number in a string"
        case .word: "word"
        case .name: "name"
        case .model: "model"
        case .version: "version"
        case .locale: "locale"
        case .date: "date or time"
        case .zone: "time zone"
        case .scheme: "URL scheme"
        case .oneOf: "documented word"
        case .beginning(let start): "word that begins with `\(start)`"
        case .code(let length): "\(length) lowercase letters or digits"
        }
    }
}

extension TimeForm {
    /// The description of the form.
    fileprivate var words: String {
        switch self {
        case .text: "date or time"
        case .milliseconds: "number of milliseconds"
        case .millisecondsText: "number of milliseconds in a string"
        case .secondsText: "number of seconds in a string"
        case .ticks: "number of milliseconds or nanoseconds"
        case .durationOrTime: "number of milliseconds, which is a duration below 10¹²"
        }
    }
}
