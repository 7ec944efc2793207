import JSONText
import Telemetry

/// An object whose values are texts: the settings of an event ping, or the extras of an event.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases E8 to E11.
enum TextValues {
    /// Window sizes were written as numbers by Firefox 11 builds; other settings by an early SDK.
    static func codeOfSetting(_ key: Span<UInt8>) -> String {
        key.equals("windowWidth") || key.equals("windowHeight") ? "E10" : "E9"
    }

    /// Writes booleans and numbers as texts, with a note; an array or object is a fault and stays.
    ///
    /// - Parameters:
    ///   - isNullable: whether null is allowed among the values.
    ///   - code: the case id of a value of another type, by key.
    ///   - name: the object's own name in notes.
    static func normalize(
        _ object: JSONNode, in document: inout JSONDocument, findings: inout Findings, isNullable: Bool,
        code: (Span<UInt8>) -> String, name: () -> String
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
            let code = code(document.bytes(of: member.key))
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

    /// The SDK before 1.1.2 wrote Swift's description of an optional; it stays as stored.
    private static func isOptional(_ text: Span<UInt8>) -> Bool {
        text.equals("nil") || text.count > 10 && text.extracting(..<9).equals("Optional(")
    }
}
