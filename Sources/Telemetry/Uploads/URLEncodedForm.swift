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

/// An `application/x-www-form-urlencoded` body that is being written.
public struct FormWriter {
    private var body: [UInt8] = []

    /// Creates an empty form.
    public init() {}

    /// Appends a field, whose name and value are UTF-8.
    public mutating func append(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
        if !body.isEmpty { body.append(UInt8(ascii: "&")) }
        PercentEncoding.append(formValue: name, to: &body)
        body.append(UInt8(ascii: "="))
        PercentEncoding.append(formValue: value, to: &body)
    }

    /// The form as the content of a request.
    public var content: RequestContent { RequestContent(type: "application/x-www-form-urlencoded", body: body) }
}

extension FormBody {
    /// Returns the payload in `form`, or throws an error if there is none.
    public func payload(in form: [UInt8]) throws(BodyError) -> [UInt8] {
        guard let found = URLEncodedForm.value(of: selector, in: form) else {
            // The form of an uploaded file is multipart.
            guard form.starts(with: "--".utf8) else { throw .invalid("the form has no \(selector)") }
            throw .foreign(otherwise)
        }
        guard found.elementsEqual(selected.utf8) else { throw .foreign(otherwise) }
        guard let value = URLEncodedForm.value(of: payload, in: form) else {
            throw .invalid("the form has no \(payload)")
        }
        return value
    }
}

/// A field of a form.
public struct FormField: Sendable {
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

/// The conversion of a form whose fields are the members of the payload.
public enum FormFields {
    /// Returns the fields of `form` as a JSON object.
    ///
    /// A repeated field becomes a repeated key.
    public static func json(of form: [UInt8]) throws(BodyError) -> [UInt8] {
        var object = FormObject()
        // A line ending cannot be part of a form. Some logs add it.
        let end = form.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
        for pair in form[..<end].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                throw .invalid("the form has a pair without an equals sign")
            }
            let (name, value) = (pair[..<equals], pair[(equals + 1)...])
            try object.append(name.span, value.span, isEncoded: true)
        }
        return object.finish()
    }

    /// Returns a JSON object of `fields`, which are the fields of a form that a log lists separately.
    ///
    /// Some logs list them decoded, and others list them percent-encoded.
    public static func json(of fields: [FormField], areDecoded: Bool) throws(BodyError) -> [UInt8] {
        var object = FormObject()
        for field in fields { try object.append(field.name.span, field.value.span, isEncoded: !areDecoded) }
        return object.finish()
    }
}

/// A JSON object that is built from the fields of a form.
private struct FormObject: ~Copyable {
    private var text = TextBuffer([UInt8(ascii: "{")])

    mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>, isEncoded: Bool) throws(BodyError) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        try append(name, isEncoded)
        text.append(UInt8(ascii: ":"))
        try append(value, isEncoded)
    }

    private mutating func append(_ string: Span<UInt8>, _ isEncoded: Bool) throws(BodyError) {
        guard isEncoded else { return text.append(jsonString: string) }
        guard let decoded = PercentEncoding.decoded(string, plusIsSpace: true) else {
            throw .invalid("malformed percent-encoding")
        }
        guard (try? UTF8Span(validating: decoded.span)) != nil else {
            throw .invalid("a field of the form is not UTF-8")
        }
        text.append(jsonString: decoded.span)
    }

    mutating func finish() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text.bytes
    }
}
