import Console
import Foundation

extension JSONForm {
    /// Returns the differences between a parsed result and its form, or an empty array if it has the form.
    ///
    /// Unlike the schema of the form, this rejects unknown members.
    public func mismatches(in result: [String: Any]) -> [String] {
        var members = result
        var mismatches: [String] = []
        if isNamed {
            if members.removeValue(forKey: "format") as? String != name { mismatches.append("format") }
            if members.removeValue(forKey: "version") as? Int != JSONResult.version { mismatches.append("version") }
        }
        return mismatches + JSONShape.object(self.members).mismatches(in: members, at: name)
    }
}

extension JSONShape {
    fileprivate func mismatches(in value: Any, at path: String) -> [String] {
        switch self {
        case .nullable(let shape): return value is NSNull ? [] : shape.mismatches(in: value, at: path)
        case .string: return value is String ? [] : [path]
        case .constant(let text): return value as? String == text ? [] : [path]
        case .integer: return Self.isBoolean(value) || !(value is Int) ? [path] : []
        case .boolean: return Self.isBoolean(value) ? [] : [path]
        case .array(let shape):
            guard let values = value as? [Any] else { return [path] }
            return values.flatMap { shape.mismatches(in: $0, at: "\(path)[]") }
        case .map(let shape):
            guard let values = value as? [String: Any] else { return [path] }
            return values.flatMap { shape.mismatches(in: $1, at: "\(path).\($0)") }
        // The inputs of bundles are nested without end, so that their form names no members.
        case .object(let members) where members.isEmpty: return value is [String: Any] ? [] : [path]
        case .object(let members):
            guard let values = value as? [String: Any] else { return [path] }
            let unknown = Set(values.keys).subtracting(members.map(\.key)).map { "\(path).\($0): unknown" }
            return unknown
                + members.flatMap { member in
                    let path = "\(path).\(member.key)"
                    guard let value = values[member.key] else { return member.isRequired ? ["\(path): missing"] : [] }
                    return member.shape.mismatches(in: value, at: path)
                }
        }
    }

    private static func isBoolean(_ value: Any) -> Bool {
        (value as? NSNumber).map { ["B", "c"].contains(String(cString: $0.objCType)) } ?? false
    }
}
