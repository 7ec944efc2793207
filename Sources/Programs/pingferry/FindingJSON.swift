import JSONText
import Systems
import Telemetry

extension QuarantineEntry {
    /// The entry as in a bundle, with the members `code` and `text` for the two parts of its reason.
    var jsonWithCode: CanonicalObject {
        let parts = reject.reason.split(separator: " ", maxSplits: 1)
        var object = json
        object.set("code", string: parts.first.map(String.init) ?? "")
        object.set("text", string: parts.count > 1 ? String(parts[1]) : "")
        return object
    }
}

extension Hold {
    /// The code of the hold, with its detail or otherwise the documented meaning of the code.
    var jsonWithCode: CanonicalObject {
        var object = CanonicalObject()
        object.set("code", string: code)
        let known = Systems.table.holdCodes.first { $0.code == code }
        object.set("text", string: detail ?? known.map { "the record \($0.meaning)" })
        return object
    }
}
