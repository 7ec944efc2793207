import JSONText
import Systems
import Telemetry

/// What summaries for machines tell with a code and the words beside it.
extension Quarantined {
    /// The entry as bundles list it, and with the code that its reason begins with and the words after that.
    var jsonWithCode: CanonicalObject {
        let parts = reject.reason.split(separator: " ", maxSplits: 1)
        var object = json
        object.set("code", string: parts.first.map(String.init) ?? "")
        object.set("text", string: parts.count > 1 ? String(parts[1]) : "")
        return object
    }
}

extension Hold {
    /// The code, and the words that stand behind it in the record or else what it means.
    var jsonWithCode: CanonicalObject {
        var object = CanonicalObject()
        object.set("code", string: code)
        let known = Systems.table.holdCodes.first { $0.code == code }
        object.set("text", string: detail ?? known.map { "the record \($0.meaning)" })
        return object
    }
}
