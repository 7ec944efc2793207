import JSONText
import Systems
import Telemetry

extension QuarantineEntry {
    /// The entry as bundles list it, with the code at the beginning of its reason and the text after the code.
    var jsonWithCode: CanonicalObject {
        let parts = reject.reason.split(separator: " ", maxSplits: 1)
        var object = json
        object.set("code", string: parts.first.map(String.init) ?? "")
        object.set("text", string: parts.count > 1 ? String(parts[1]) : "")
        return object
    }
}

extension Hold {
    /// The code of the hold, with its detail in the record or, if there is none, its documented meaning.
    var jsonWithCode: CanonicalObject {
        var object = CanonicalObject()
        object.set("code", string: code)
        let known = Systems.table.holdCodes.first { $0.code == code }
        object.set("text", string: detail ?? known.map { "the record \($0.meaning)" })
        return object
    }
}
