import Bytes
import JSONText

/// A converter of XML property lists into the binary form in one pass.
///
/// Source: <doc:KeyedArchives>, A.6.
struct XMLTranscoder: ~Escapable {
    /// An array or dictionary whose end tag has not been read yet.
    private struct Frame {
        let isDictionary: Bool
        /// The offset of the start tag.
        let sourceOffset: Int
        /// The index in `pendingNumbers` of the array's first value or the dictionary's first key.
        let firstPendingIndex: Int
    }

    private var reader: XMLReader
    private var writer = BinaryWriter()
    private var keyTable = XMLKeyTable()
    private var frames: [Frame] = []
    /// The object numbers of the contents of open arrays and dictionaries.
    private var pendingNumbers: [UInt32] = []
    private var repeats: RepeatedKeys?
    private var faults = XMLFaults()
    private let depthLimit: Int
    private let keepsInvalidValues: Bool

    @_lifetime(copy source)
    private init(_ source: Span<UInt8>, _ encoding: XMLReader.Encoding, limits: PropertyListLimits) {
        reader = XMLReader(source, encoding, keepsInvalidValues: limits.keepsInvalidValues)
        depthLimit = limits.depth
        keepsInvalidValues = limits.keepsInvalidValues
    }

    /// Converts a UTF-16 property list.
    ///
    /// The offsets in the result and in errors refer to `source`.
    static func transcode(
        utf16 source: Span<UInt8>, isBigEndian: Bool, limits: PropertyListLimits
    ) throws(PropertyListError) -> RewrittenPropertyList {
        let text = try UTF16Source(source, isBigEndian: isBigEndian)
        do throws(PropertyListError) {
            let transcoded = try transcode(text.utf8.span, .utf16, limits: limits)
            let sourceOffsets = transcoded.sourceOffsets.map { UInt32(text.offset(of: Int($0), in: source)) }
            let repeats = transcoded.repeats.map {
                RepeatedKeys(count: $0.count, offset: text.offset(of: $0.offset, in: source))
            }
            return RewrittenPropertyList(
                bytes: transcoded.bytes, sourceOffsets: sourceOffsets, repeats: repeats,
                faults: transcoded.faults.map { text.locate($0, in: source) })
        } catch {
            throw text.locate(error, in: source)
        }
    }

    static func transcode(
        _ source: Span<UInt8>, _ encoding: XMLReader.Encoding = .utf8, limits: PropertyListLimits
    ) throws(PropertyListError) -> RewrittenPropertyList {
        var transcoder = XMLTranscoder(source, encoding, limits: limits)
        try transcoder.run()
        transcoder.writer.finish()
        return RewrittenPropertyList(
            bytes: transcoder.writer.bytes, sourceOffsets: transcoder.writer.sourceOffsets, repeats: transcoder.repeats,
            faults: transcoder.faults)
    }

    private mutating func run() throws(PropertyListError) {
        var tag = try reader.readProlog()
        while true {
            if tag.isEnd { try close(tag) } else { try open(tag) }
            guard !frames.isEmpty else { break }
            tag = try reader.nextTag()
        }
        do throws(PropertyListError) {
            try reader.readEpilog()
        } catch {
            guard keepsInvalidValues else { throw error }
            faults.end = error
        }
    }

    private mutating func open(_ tag: XMLTag) throws(PropertyListError) {
        let isKey = tag.name == .key
        guard isKey == expectsKey else {
            throw .syntax(isKey ? "a key where none can be" : "a value in a dictionary without a key", at: tag.offset)
        }
        if isKey { return try appendKey(tag) }
        guard frames.count < depthLimit else {
            throw PropertyListError(.tooDeep, at: tag.offset, "more than \(depthLimit) levels")
        }
        if tag.name == .array || tag.name == .dict {
            frames.append(
                Frame(
                    isDictionary: tag.name == .dict, sourceOffset: tag.offset, firstPendingIndex: pendingNumbers.count))
            if tag.isEmpty { try close(tag) }
            return
        }
        try appendScalar(tag)
        pendingNumbers.append(writer.lastNumber)
    }

    /// Whether the next XML element has to be a key.
    private var expectsKey: Bool {
        guard let frame = frames.last, frame.isDictionary else { return false }
        return (pendingNumbers.count - frame.firstPendingIndex).isMultiple(of: 2)
    }

    private mutating func close(_ tag: XMLTag) throws(PropertyListError) {
        guard let frame = frames.popLast(), frame.isDictionary == (tag.name == .dict),
            frame.isDictionary || tag.name == .array
        else { throw .syntax("an end tag that nothing began", at: tag.offset) }
        // The values are copied, because a slice would prevent `pendingNumbers` from being changed in place.
        let values = Array(pendingNumbers[frame.firstPendingIndex...])[...]
        if frame.isDictionary {
            guard values.count.isMultiple(of: 2) else { throw .syntax("a key without a value", at: tag.offset) }
            let members = removingRepeatedKeys(values, of: frame)
            if try !replaceUID(members, at: frame.sourceOffset) {
                writer.append(dictionary: members, at: frame.sourceOffset)
            }
        } else {
            writer.append(array: values, at: frame.sourceOffset)
        }
        pendingNumbers.removeSubrange(frame.firstPendingIndex...)
        if !frames.isEmpty { pendingNumbers.append(writer.lastNumber) }
    }

    /// Returns `members` without repeated keys and their values.
    private mutating func removingRepeatedKeys(_ members: ArraySlice<UInt32>, of frame: Frame) -> ArraySlice<UInt32> {
        let keys = stride(from: members.startIndex, to: members.endIndex, by: 2)
        // Equal keys are one object, so it suffices to compare their numbers.
        let numbers = keys.map { members[$0] }.sorted()
        guard zip(numbers, numbers.dropFirst()).contains(where: ==) else { return members }
        var known: Set<UInt32> = []
        var kept: [UInt32] = []
        for index in keys where known.insert(members[index]).inserted { kept += members[index...index + 1] }
        repeats.add((members.count - kept.count) / 2, at: frame.sourceOffset)
        return kept[...]
    }

    /// Appends a UID if `members` are the members of `<dict><key>CF$UID</key><integer>…</integer></dict>`.
    ///
    /// The UID replaces the integer, which was appended last. Returns `false` for any other members.
    private mutating func replaceUID(_ members: ArraySlice<UInt32>, at offset: Int) throws(PropertyListError) -> Bool {
        guard members.count == 2, let key = members.first, let value = members.last, value == writer.lastNumber,
            writer.text(of: key).isUID, let integer = writer.lastInteger
        else { return false }
        guard let uid = integer.unsigned.flatMap(UInt32.init(exactly:)) else {
            throw PropertyListError(.badUID, at: offset, "a UID outside of 0 to 4294967295")
        }
        writer.removeLast()
        writer.append(uid: uid, at: offset)
        return true
    }

    private mutating func appendKey(_ tag: XMLTag) throws(PropertyListError) {
        let isASCII = try reader.readText(of: tag)
        if let fault = reader.textFault { throw fault }
        let text = reader.text
        if let number = keyTable.number(of: text, in: writer) {
            pendingNumbers.append(number)
            return
        }
        writer.append(text: text.span, isASCII: isASCII, at: tag.offset)
        keyTable.insert(writer.lastNumber, text: text)
        pendingNumbers.append(writer.lastNumber)
    }

    private mutating func appendScalar(_ tag: XMLTag) throws(PropertyListError) {
        switch tag.name {
        case .true, .false:
            if !tag.isEmpty { try reader.readEnd(of: tag) }
            writer.append(boolean: tag.name == .true, at: tag.offset)
        case .data:
            let content = try reader.readUnescapedContent(of: tag)
            if !writer.append(base64: content, at: tag.offset) { try appendInvalid("base64 text", tag) }
        case .string:
            let isASCII = try reader.readText(of: tag)
            if let fault = reader.textFault { return try appendInvalid(fault) }
            let text = reader.text
            writer.append(text: text.span, isASCII: isASCII, at: tag.offset)
        case .integer:
            _ = try reader.readText(of: tag)
            guard let integer = XMLScalar.integer(reader.text.span) else { return try appendInvalid("integer", tag) }
            writer.append(integer: integer, at: tag.offset)
        case .real:
            _ = try reader.readText(of: tag)
            guard let real = XMLScalar.real(reader.text.span) else { return try appendInvalid("real", tag) }
            writer.append(real: real, at: tag.offset)
        case .date:
            _ = try reader.readText(of: tag)
            guard let date = XMLScalar.date(reader.text.span) else { return try appendInvalid("date", tag) }
            writer.append(date: date, at: tag.offset)
        case .key, .array, .dict, .plist:
            throw .syntax("an element that cannot stand here", at: tag.offset)
        }
    }

    /// Appends a null object for a malformed value, or throws an error if malformed values are not permitted.
    ///
    /// The reader has read the whole element.
    private mutating func appendInvalid(_ name: String, _ tag: XMLTag) throws(PropertyListError) {
        try appendInvalid(PropertyListError(.xmlSyntax, at: tag.offset, "a malformed \(name)"))
    }

    private mutating func appendInvalid(_ error: PropertyListError) throws(PropertyListError) {
        guard keepsInvalidValues else { throw error }
        writer.appendNull(at: error.offset)
        faults.values[writer.lastNumber] = error
    }
}

/// A hash table of the object numbers of keys.
///
/// Only the writer stores the strings of the keys.
private struct XMLKeyTable {
    private var numbers: [Int: UInt32] = [:]

    /// Returns the number of the object that holds `text`, or `nil` if there is none.
    func number(of text: [UInt8], in writer: borrowing BinaryWriter) -> UInt32? {
        var hash = text.hashValue
        while let number = numbers[hash] {
            if writer.text(of: number).equals(utf8: text.span) { return number }
            hash &+= 1
        }
        return nil
    }

    mutating func insert(_ number: UInt32, text: [UInt8]) {
        var hash = text.hashValue
        while numbers[hash] != nil { hash &+= 1 }
        numbers[hash] = number
    }
}

/// Parsers for the numbers, dates and references of XML property lists.
///
/// Source: <doc:KeyedArchives>, A.6.
enum XMLScalar {
    /// Returns the value of a decimal integer, or of a hexadecimal integer with the prefix `0x`.
    ///
    /// Returns `nil` if `text` is malformed or the value is not in the range −2^63 to 2^64 − 1.
    static func integer(_ text: Span<UInt8>) -> PropertyListInteger? {
        var bytes = trimmed(text)
        let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        if isNegative || (bytes.count > 0 && bytes[0] == UInt8(ascii: "+")) { bytes = bytes.extracting(1...) }
        let isHexadecimal = bytes.count > 2 && bytes[0] == UInt8(ascii: "0") && bytes[1] | 0x20 == UInt8(ascii: "x")
        if isHexadecimal { bytes = bytes.extracting(2...) }
        guard !bytes.isEmpty else { return nil }
        let radix: UInt64 = isHexadecimal ? 16 : 10
        var magnitude: UInt64 = 0
        for index in bytes.indices {
            guard let digit = bytes[index].hexadecimalValue, digit < radix else { return nil }
            let product = magnitude.multipliedReportingOverflow(by: radix)
            let sum = product.partialValue.addingReportingOverflow(UInt64(digit))
            guard !product.overflow, !sum.overflow else { return nil }
            magnitude = sum.partialValue
        }
        guard isNegative, magnitude > 0 else { return PropertyListInteger(bits: magnitude, isNegative: false) }
        guard magnitude <= 1 << 63 else { return nil }
        return PropertyListInteger(bits: 0 &- magnitude, isNegative: true)
    }

    /// Returns the value of a decimal number, or of `nan`, `inf` or `infinity` in any letter case.
    static func real(_ text: Span<UInt8>) -> Double? {
        let word = String(readingUTF8: trimmed(text)).lowercased()
        let unsigned = word.hasPrefix("-") || word.hasPrefix("+") ? String(word.dropFirst()) : word
        switch unsigned {
        case "nan": return .nan
        case "inf", "infinity": return word.hasPrefix("-") ? -.infinity : .infinity
        default:
            // Double(_:) also accepts hexadecimal numbers, which are rejected here.
            guard unsigned.utf8.allSatisfy({ $0.isDigit || [0x2B, 0x2D, 0x2E, 0x65].contains($0) })
            else { return nil }
            return Double(word)
        }
    }

    /// Returns the seconds from 2001-01-01T00:00:00Z to a date in the format `YYYY-MM-DDThh:mm:ssZ`.
    static func date(_ text: Span<UInt8>) -> Double? {
        var bytes = trimmed(text)
        let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        if isNegative { bytes = bytes.extracting(1...) }
        guard bytes.count >= 20, bytes.count <= 24 else { return nil }
        let yearLength = bytes.count - 16
        for (offset, sign) in [(0, "-"), (3, "-"), (6, "T"), (9, ":"), (12, ":"), (15, "Z")] {
            guard bytes[yearLength + offset] == sign.utf8.first else { return nil }
        }
        guard let year = bytes.extracting(..<yearLength).decimalNumber,
            let month = bytes.extracting(yearLength + 1..<yearLength + 3).decimalNumber,
            let day = bytes.extracting(yearLength + 4..<yearLength + 6).decimalNumber,
            let hour = bytes.extracting(yearLength + 7..<yearLength + 9).decimalNumber, hour < 24,
            let minute = bytes.extracting(yearLength + 10..<yearLength + 12).decimalNumber, minute < 60,
            let second = bytes.extracting(yearLength + 13..<yearLength + 15).decimalNumber, second < 61,
            let date = CivilDate(year: isNegative ? -year : year, month: month, day: day)
        else { return nil }
        return Double((date.daysSinceEpoch * 24 + hour) * 3600 + minute * 60 + second) - PropertyListDate.epoch
    }

    /// Returns the scalar that `&name;` refers to, or `nil` if `name` is neither predefined nor a character number.
    static func reference(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else { return nil }
            return (digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits))
                .flatMap(Unicode.Scalar.init)
        }
    }

    @_lifetime(copy text)
    private static func trimmed(_ text: Span<UInt8>) -> Span<UInt8> {
        var start = 0
        var end = text.count
        while start < end, text[start].isBlank { start += 1 }
        while end > start, text[end - 1].isBlank { end -= 1 }
        return text.extracting(start..<end)
    }
}
