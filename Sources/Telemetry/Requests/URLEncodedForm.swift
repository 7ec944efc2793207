import Bytes
import JSONText

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

/// A form whose fields are the members of the payload.
public struct FormFields: Sendable {
    /// A field of a form.
    public struct Field: Sendable {
        /// The name, which may be percent-encoded.
        public let name: [UInt8]
        /// The value, which may be percent-encoded.
        public let value: [UInt8]

        /// Creates a field.
        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    private let areDecoded: @Sendable (_ fields: [Field]) -> Bool

    /// Creates a form.
    ///
    /// `areDecoded` returns whether the fields that a log lists separately are decoded already. Some logs contain encoded
    /// fields.
    public init(areDecoded: @escaping @Sendable (_ fields: [Field]) -> Bool) { self.areDecoded = areDecoded }

    /// Returns the fields of `form` as a JSON object, in which a repeated field is a repeated key.
    public func json(of form: [UInt8]) throws(BodyError) -> [UInt8] {
        var fields: [Field] = []
        for pair in form.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                throw .invalid("the form has a pair without an equals sign")
            }
            fields.append(Field(name: Array(pair[..<equals]), value: Array(pair[(equals + 1)...])))
        }
        return try Self.json(ofEncoded: fields)
    }

    /// Returns fields that a log lists separately as a JSON object.
    public func json(of fields: [Field]) throws(BodyError) -> [UInt8] {
        areDecoded(fields) ? Self.object(fields) : try Self.json(ofEncoded: fields)
    }

    private static func json(ofEncoded fields: [Field]) throws(BodyError) -> [UInt8] {
        var decoded: [Field] = []
        for field in fields {
            guard let name = PercentEncoding.decoded(field.name.span, plusIsSpace: true),
                let value = PercentEncoding.decoded(field.value.span, plusIsSpace: true)
            else { throw .invalid("malformed percent-encoding") }
            guard [name, value].allSatisfy({ (try? UTF8Span(validating: $0.span)) != nil }) else {
                throw .invalid("a field of the form is not UTF-8")
            }
            decoded.append(Field(name: name, value: value))
        }
        return object(decoded)
    }

    private static func object(_ fields: [Field]) -> [UInt8] {
        var text = TextBuffer()
        text.append(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(jsonString: field.name.span)
            text.append(UInt8(ascii: ":"))
            text.append(jsonString: field.value.span)
        }
        text.append(UInt8(ascii: "}"))
        return text.bytes
    }
}
