import Bytes

/// A parser for `application/x-www-form-urlencoded` bodies.
public enum URLEncodedForm {
    /// Returns the decoded value of the first field called `name`, or `nil` if it is missing or malformed.
    public static func value(of name: String, in form: [UInt8]) -> [UInt8]? {
        for field in form.split(separator: UInt8(ascii: "&")) {
            let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            guard field[..<equals].elementsEqual(name.utf8) else { continue }
            let value = field[equals...].dropFirst()
            return PercentEncoding.decoded(value.span, plusIsSpace: true)
        }
        return nil
    }
}

extension FormBody {
    /// Returns the payload in `form`, or throws an error if there is none.
    public func payload(in form: [UInt8]) throws(BodyError) -> [UInt8] {
        guard let selector = URLEncodedForm.value(of: selector, in: form), selector.elementsEqual(selected.utf8) else {
            throw .foreign(otherwise)
        }
        guard let value = URLEncodedForm.value(of: payload, in: form) else {
            throw .invalid("the form has no \(payload)")
        }
        return value
    }
}
