import JSONText
import Systems
import Telemetry

extension QuarantineEntry {
    /// The JSON object of the entry, with its reason also split into the members `code` and `text`.
    var jsonWithCode: CanonicalObject {
        let parts = reject.reason.split(separator: " ", maxSplits: 1)
        var object = json
        object.set("code", string: parts.first.map(String.init) ?? "")
        object.set("text", string: parts.count > 1 ? String(parts[1]) : "")
        return object
    }
}

extension Hold {
    /// A JSON object with the code of the hold and its detail, or the meaning of the code if there is no detail.
    var jsonWithCode: CanonicalObject {
        var object = CanonicalObject()
        object.set("code", string: code)
        let known = Systems.table.holdCodes.first { $0.code == code }
        object.set("text", string: detail ?? known.map { "the record \($0.meaning)" })
        return object
    }
}
