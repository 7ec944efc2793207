import Bytes
import JSONText

/// A value of a keyed archive.
///
/// The elements of a collection and the members of an instance are read separately.
///
/// Source: <doc:KeyedArchives>, B.3 and part C.
public enum KeyedValue: Sendable {
    /// The value nil, which is stored as UID 0, the string `$null`, or a null object.
    case none
    /// An instance of `NSNull`.
    case null
    case boolean(Bool)
    case integer(PropertyListInteger)
    /// A real, which can be infinite or not a number.
    case real(Double)
    /// A string, whose node has the kind ``PropertyListKind/text``, or ``PropertyListKind/data`` for stored UTF-8.
    case text(PropertyListNode)
    /// Bytes, whose node has the kind ``PropertyListKind/data``.
    case data(PropertyListNode)
    /// A date, in seconds since 2001-01-01T00:00:00Z, which can be infinite or not a number.
    case date(Double)
    /// An array, a set or an ordered set.
    case array(KeyedElements, FoundationClass)
    case dictionary(KeyedPairs)
    /// An instance of any other class, including `NSURL`, `NSUUID`, `NSDecimalNumber` and `NSValue`.
    case instance(PropertyListNode, KeyedClass)
    /// A date, an array or a UID where an object is expected, which archivers never write.
    case unrepresentable(PropertyListNode)
}

extension KeyedArchive {
    /// Returns the value of a stored node, which is an inline scalar or a UID.
    public mutating func value(of stored: PropertyListNode) throws(PropertyListError) -> KeyedValue {
        guard document.kind(of: stored) == .uid else { return try value(ofObject: stored) }
        guard let object = try object(stored) else { return .none }
        return try value(ofObject: object)
    }

    /// Returns the object that is stored under `key`, or ``KeyedValue/none`` if the member is absent.
    ///
    /// - Throws: ``PropertyListError`` with the code `badValue` if the member is stored inline, and the errors of
    ///   ``value(of:)``.
    public mutating func object(
        _ key: KeyedKey, of instance: PropertyListNode
    ) throws(PropertyListError) -> KeyedValue {
        guard let stored = member(key, of: instance), let object = try object(stored) else { return .none }
        return try value(ofObject: object)
    }

    /// Returns the value of an object, which is an element of `$objects` or an inline scalar.
    public mutating func value(ofObject object: PropertyListNode) throws(PropertyListError) -> KeyedValue {
        switch document.kind(of: object) {
        case .null: .none
        case .boolean: .boolean(document.boolean(of: object))
        case .integer: .integer(document.integer(of: object))
        case .real: .real(document.real(of: object))
        case .text: .text(object)
        case .data: .data(object)
        case .date, .array, .uid: .unrepresentable(object)
        case .dictionary: try instance(object)
        }
    }

    private mutating func instance(_ object: PropertyListNode) throws(PropertyListError) -> KeyedValue {
        guard let found = try classOfInstance(object) else {
            throw document.error(.badClass, at: object, "an instance without a class")
        }
        guard let foundation = found.foundation else { return .instance(object, found) }
        switch foundation {
        case .uuid, .url, .decimal, .value:
            return .instance(object, found)
        case .null:
            return .null
        case .string:
            return try text(of: object)
        case .data:
            guard let stored = member(dataKey, of: object) ?? member(bytesKey, of: object),
                document.kind(of: stored) == .data
            else { throw badValue(object, "data without bytes") }
            return .data(stored)
        case .date:
            guard let stored = member(timeKey, of: object) else { return .date(0) }
            switch document.kind(of: stored) {
            case .real: return .date(document.real(of: stored))
            case .integer: return .date(document.integer(of: stored).real)
            default: throw badValue(stored, "a date whose time is no number")
            }
        case .number:
            return try number(of: object)
        case .attributedString:
            guard let stored = member(attributedKey, of: object), let text = try self.object(stored) else {
                return .none
            }
            guard case .dictionary = document.kind(of: text) else { return try value(ofObject: text) }
            // Following another attributed string could recurse forever.
            guard try classOfInstance(text)?.foundation == .string else {
                throw badValue(text, "an attributed string whose text is none")
            }
            return try self.text(of: text)
        case .array, .set, .orderedSet:
            return .array(try elements(of: object), foundation)
        case .dictionary:
            return .dictionary(try pairs(of: object))
        }
    }

    private mutating func text(of object: PropertyListNode) throws(PropertyListError) -> KeyedValue {
        if let stored = member(stringKey, of: object) {
            guard document.kind(of: stored) == .text else { throw badValue(stored, "a string whose text is none") }
            return .text(stored)
        }
        guard let stored = member(bytesKey, of: object), document.kind(of: stored) == .data else {
            throw badValue(object, "a string without text")
        }
        return .text(stored)
    }

    private mutating func number(of object: PropertyListNode) throws(PropertyListError) -> KeyedValue {
        for key in numberKeys {
            guard let stored = member(key, of: object) else { continue }
            let scalar = document.kind(of: stored) == .uid ? try self.object(stored) ?? stored : stored
            // Following another number could recurse forever.
            switch document.kind(of: scalar) {
            case .boolean: return .boolean(document.boolean(of: scalar))
            case .integer: return .integer(document.integer(of: scalar))
            case .real: return .real(document.real(of: scalar))
            default: throw badValue(stored, "a number that is none")
            }
        }
        throw badValue(object, "a number without a value")
    }

    func badValue(_ node: PropertyListNode, _ reason: String) -> PropertyListError {
        document.error(.badValue, at: node, reason)
    }
}

/// Reads instances of `NSUUID` and `NSURL`.
///
/// Source: <doc:KeyedArchives>, C.1.
extension KeyedArchive {
    /// Returns a UUID in uppercase, for example `9F2C1D7E-0B3A-4C55-8E11-2A6B7C8D9E0F`.
    mutating func uuid(of instance: PropertyListNode) throws(PropertyListError) -> String {
        guard let stored = member(uuidKey, of: instance), document.kind(of: stored) == .data,
            document.payload(of: stored).count == 16
        else { throw badValue(instance, "a UUID that has not 16 bytes") }
        let bytes = document.payload(of: stored)
        var text: [UInt8] = []
        for index in bytes.indices {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append((bytes[index] >> 4).upperHexadecimalDigit)
            text.append((bytes[index] & 0xF).upperHexadecimalDigit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the relative part of an `NSURL`, and the object of its base URL if it has one.
    mutating func url(
        of instance: PropertyListNode
    ) throws(PropertyListError) -> (relative: String, base: PropertyListNode?) {
        guard case .text(let relative) = try object(relativeKey, of: instance) else {
            throw badValue(instance, "a URL without text")
        }
        work.charge(bytes: document.payload(of: relative).count)
        guard let stored = member(baseKey, of: instance), let base = try object(stored) else {
            return (document.string(of: relative), nil)
        }
        guard document.kind(of: base) == .dictionary, try classOfInstance(base)?.foundation == .url else {
            throw badValue(stored, "a URL whose base is none")
        }
        return (document.string(of: relative), base)
    }
}
