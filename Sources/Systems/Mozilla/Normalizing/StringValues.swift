import JSONText
import Telemetry

/// The functions that normalize JSON objects whose values must be strings, such as the extras of an event.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases E8 to E11.
enum StringValues {
    /// Returns the note code for a setting whose value is not a string.
    static func noteCode(forSetting key: Span<UInt8>) -> String {
        // Firefox 11 wrote window sizes as numbers. An early SDK wrote other settings as numbers and Booleans.
        key.equals("windowWidth") || key.equals("windowHeight") ? "E10" : "E9"
    }

    /// Replaces Booleans and numbers in `object` with strings.
    ///
    /// Each change adds a note with the code that `noteCode` returns for the key. An array or an object adds a fault,
    /// and so does `null` unless `isNullable` is `true`.
    static func normalize(
        _ object: JSONNode, in document: inout JSONDocument, findings: inout Findings, isNullable: Bool,
        noteCode: (Span<UInt8>) -> String, name: () -> String
    ) {
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            let kind = document.kind(of: member.value)
            if kind == .string {
                if isOptional(document.bytes(of: member.value)) {
                    let key = document.string(of: member.key)
                    findings.note("E11 \(name()).\(key): optional's description kept as stored")
                }
                continue
            }
            if kind == .null, isNullable { continue }
            let path = "\(name()).\(document.string(of: member.key))"
            let code = noteCode(document.bytes(of: member.key))
            switch kind {
            case .true, .false:
                document.replace(member.value, withString: (kind == .true ? "true" : "false").utf8)
                findings.note("\(code) \(path): boolean written as string")
            case .number:
                let text = document.bytes(of: member.value).copied()
                document.replace(member.value, withString: text)
                findings.note("\(code) \(path): number written as string")
            default:
                findings.fault("\(path) is no string")
            }
        }
    }

    /// Returns whether `text` is the Swift description of an optional value, which SDK versions before 1.1.2 wrote.
    private static func isOptional(_ text: Span<UInt8>) -> Bool {
        text.equals("nil") || text.count > 10 && text.extracting(..<9).equals("Optional(")
    }
}
