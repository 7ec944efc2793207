import Bytes

/// A reader that extracts the elements of one array from JSON text that arrives in pieces.
///
/// The reader returns one element at a time, with its range in the text. An outline selects the parts of the element to
/// extract. Memory use does not grow with the text, so files of gigabytes, such as HTTP archives, can be read. In
/// contrast, ``JSONDocument`` needs the whole text in memory.
///
/// The extracted text is not validated, so read it with ``JSONDocument``. Skipped values are only scanned for brackets
/// and strings.
public struct JSONArrayStreamReader: Sendable {
    /// A result of ``next(in:from:)``.
    public enum Finding: Equatable, Sendable {
        /// An element of the array.
        case element
        /// A sibling of the array that was requested by the given key.
        case neighbor(JSONKey)
    }

    /// The position in the JSON grammar at which the next byte is read.
    private enum State: Equatable {
        /// Before a value.
        case value
        /// After `[`, before a value or `]`.
        case firstElement
        /// After `{`, before a key or `}`.
        case firstKey
        /// After a comma in an object, before a key.
        case key
        /// After a key, before `:`.
        case colon
        case string(StringPart)
        /// After a backslash in a string.
        case escape(StringPart)
        /// In a number, or in `true`, `false` or `null`.
        case scalar
        /// After a value in an array or object, before a comma, `]` or `}`.
        case afterValue
        /// After the outermost value.
        case end
    }

    /// Whether a string is a key or a value.
    private enum StringPart {
        case key, value
    }

    /// An array or object that is open.
    private struct Frame {
        let isObject: Bool
        let role: ExtractionRole
        /// Whether no member of the object has been extracted yet.
        var isFirst = true
    }

    /// The extracted JSON of the last finding, or an empty array if ``isTooLong`` is `true`.
    public var text: [UInt8] { extracted.bytes }
    /// Whether the extracted JSON of the last finding exceeds the limit.
    public var isTooLong: Bool { extracted.isTooLong }
    /// The byte range of the last finding in the whole text.
    ///
    /// While a finding is incomplete, the range is empty and marks the start of the finding. The range of a sibling of
    /// the array begins with the colon before the value.
    public private(set) var range = 0..<0
    /// The number of keys in the longest prefix of the path that was found with values of the expected kinds.
    public private(set) var progress = 0
    /// Whether the array was found.
    public var hasFoundArray: Bool { progress == path.count }
    /// The offset of the next byte in the whole text.
    public private(set) var offset: Int
    /// Whether the outermost value is complete.
    public var isComplete: Bool { state == .end }
    /// Whether the reader is inside an element of the array.
    public private(set) var isInElement = false

    private let path: [JSONKey]
    private let neighbors: [JSONKey]
    private let outline: JSONOutline
    private let depthLimit: Int
    private var state = State.value
    private var frames: [Frame] = []
    /// The role of the next or current value, or of the enclosing object while a key is read.
    private var role: ExtractionRole
    /// The last key that was read, if the role of the value for that key depends on it.
    private var key = PartialKey()
    /// The key of the sibling that is being extracted.
    private var neighbor: JSONKey?
    private var extracted: LimitedBytes
    /// The position in an invalid element that is being skipped, or `nil` if the text is valid so far.
    private var skipped: SkippedElement?
    /// The error in the last element that was found, or `nil` if no error was found in it.
    ///
    /// The extracted text of an invalid element is incomplete.
    public private(set) var elementError: JSONError?

    /// The position in an element that is only scanned for brackets and strings, because it is invalid.
    private struct SkippedElement {
        let error: JSONError
        /// Whether each open bracket is that of an object.
        private(set) var brackets: [Bool]
        private var objectCount: Int
        var isInString = false
        var isAfterBackslash = false

        /// The maximum number of brackets that are stored, because the element can have any depth.
        private static let bracketLimit = 1 << 16

        init(error: JSONError, brackets: [Bool]) {
            self.error = error
            self.brackets = brackets
            objectCount = brackets.count { $0 }
        }

        mutating func open(isObject: Bool) {
            guard brackets.count < Self.bracketLimit else { return }
            brackets.append(isObject)
            objectCount += isObject ? 1 : 0
        }

        /// Closes the innermost open bracket of the given kind, and the unclosed brackets inside.
        ///
        /// Does nothing if there is no such bracket. Each bracket is compared at most once.
        mutating func close(isObject: Bool) {
            guard isObject ? objectCount > 0 : objectCount < brackets.count,
                let opening = brackets.lastIndex(of: isObject)
            else { return }
            objectCount -= brackets[opening...].count { $0 }
            brackets.removeSubrange(opening...)
        }
    }

    /// Creates a reader for a text whose first piece begins with the outermost value.
    ///
    /// - Parameters:
    ///   - path: The keys that lead to the array, or an empty array if the outermost value is the array.
    ///   - neighbors: The keys of siblings of the array to extract too.
    ///   - outline: The parts of each element to extract.
    ///   - limit: The maximum number of bytes to extract from one element or sibling.
    ///   - depthLimit: The maximum number of nested arrays and objects.
    ///   - offset: The offset of the first piece in the whole text.
    public init(
        path: [JSONKey], neighbors: [JSONKey] = [], outline: JSONOutline, limit: Int, depthLimit: Int = 512,
        offset: Int = 0
    ) {
        self.path = path
        self.neighbors = neighbors
        self.outline = outline
        self.depthLimit = depthLimit
        self.offset = offset
        extracted = LimitedBytes(byteLimit: limit)
        role = path.isEmpty ? .elements : .onPath(0)
    }

    /// Reads a piece of the text until a finding is complete.
    ///
    /// - Parameters:
    ///   - piece: The next piece of the text.
    ///   - index: The index in `piece` to start at. It is set to the index of the first byte that was not read.
    /// - Returns: The finding, or `nil` if the end of the piece was reached.
    /// - Throws: ``JSONError`` with an offset in the whole text.
    public mutating func next(in piece: Span<UInt8>, from index: inout Int) throws(JSONError) -> Finding? {
        if skipped != nil { return skipRest(in: piece, from: &index) }
        elementError = nil
        while index < piece.count {
            let start = index
            let isValueComplete: Bool
            do throws(JSONError) {
                isValueComplete = try step(in: piece, from: &index)
            } catch {
                index = start
                throw error
            }
            offset += index - start
            if isValueComplete, let finding = endValue() { return finding }
        }
        return nil
    }
}

// MARK: - Invalid elements

extension JSONArrayStreamReader {
    /// Continues after the element in which ``next(in:from:)`` found `error`, and returns whether this is possible.
    ///
    /// The next finding is the invalid element, whose ``elementError`` is `error`. Its end is found by its brackets and
    /// strings.
    public mutating func skipElement(after error: JSONError) -> Bool {
        let array = frames.lastIndex { if case .elements = $0.role { true } else { false } }
        guard isInElement, skipped == nil, let array else { return false }
        skipped = SkippedElement(error: error, brackets: frames[(array + 1)...].map(\.isObject))
        frames.removeLast(frames.count - array - 1)
        return true
    }

    private mutating func skipRest(in piece: Span<UInt8>, from index: inout Int) -> Finding? {
        guard var skipped else { return nil }
        let start = index
        defer { offset += index - start }
        while index < piece.count {
            let byte = piece[index]
            if skipped.isInString {
                skipped.isInString = skipped.isAfterBackslash || byte != UInt8(ascii: "\"")
                skipped.isAfterBackslash = !skipped.isAfterBackslash && byte == UInt8(ascii: "\\")
                index += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): skipped.isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                skipped.open(isObject: byte == UInt8(ascii: "{"))
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                // Outside of brackets, the byte follows the element, and is read again.
                if skipped.brackets.isEmpty { return endSkippedElement(skipped.error, at: offset + index - start) }
                if byte != UInt8(ascii: ",") { skipped.close(isObject: byte == UInt8(ascii: "}")) }
                guard skipped.brackets.isEmpty else { break }
                index += 1
                return endSkippedElement(skipped.error, at: offset + index - start)
            default: break
            }
            index += 1
        }
        self.skipped = skipped
        return nil
    }

    private mutating func endSkippedElement(_ error: JSONError, at end: Int) -> Finding {
        skipped = nil
        elementError = error
        state = .afterValue
        isInElement = false
        range = range.lowerBound..<end
        return .element
    }
}

/// The parts of a JSON value to extract: the whole value, or some members of an object.
///
/// ```swift
/// let outline: JSONOutline = ["time": .whole, "request": ["url": .whole]]
/// ```
public struct JSONOutline: Sendable, ExpressibleByDictionaryLiteral {
    /// The members to extract, or `nil` to extract the whole value.
    let members: [(key: JSONKey, outline: JSONOutline)]?

    /// The outline that extracts a whole value of any kind.
    public static let whole = JSONOutline(members: nil)

    private init(members: [(key: JSONKey, outline: JSONOutline)]?) {
        self.members = members
    }

    /// Creates an outline that extracts the named members of an object.
    ///
    /// A value that is not an object is extracted as null.
    public init(dictionaryLiteral members: (JSONKey, JSONOutline)...) {
        self.init(members: members.map { (key: $0.0, outline: $0.1) })
    }
}

// MARK: - States

extension JSONArrayStreamReader {
    /// Reads the next byte, or as much of a string as possible, and returns whether this completes a value.
    private mutating func step(in piece: Span<UInt8>, from index: inout Int) throws(JSONError) -> Bool {
        let byte = piece[index]
        switch state {
        case .string(let part):
            return readString(part, in: piece, from: &index)
        case .escape(let part):
            record(piece.extracting(index..<index + 1), of: part)
            index += 1
            state = .string(part)
            return false
        case .scalar:
            if byte.isDelimiter { return true }
            guard byte.isScalarByte else { throw JSONError(.unexpectedByte, at: offset) }
            if role.isKept { extracted.append(byte) }
            index += 1
            return false
        case .value, .firstElement, .firstKey, .key, .colon, .afterValue, .end:
            index += 1
            return byte.isJSONSpace ? false : try consume(byte)
        }
    }

    /// Processes a structural byte or the first byte of a value, and returns whether this completes a value.
    private mutating func consume(_ byte: UInt8) throws(JSONError) -> Bool {
        switch (state, byte) {
        case (.firstElement, UInt8(ascii: "]")), (.firstKey, UInt8(ascii: "}")), (.afterValue, UInt8(ascii: "]")),
            (.afterValue, UInt8(ascii: "}")):
            try close(byte)
            return true
        case (.value, _), (.firstElement, _): try beginValue(with: byte)
        case (.firstKey, UInt8(ascii: "\"")), (.key, UInt8(ascii: "\"")): beginKey()
        case (.colon, UInt8(ascii: ":")): endKey()
        case (.afterValue, UInt8(ascii: ",")): continueAfterComma()
        case (.end, _): throw JSONError(.trailingBytes, at: offset)
        default: throw JSONError(.unexpectedByte, at: offset)
        }
        return false
    }

    private mutating func beginValue(with byte: UInt8) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard frames.count < depthLimit else { throw JSONError(.tooDeep, at: offset) }
            let isObject = byte == UInt8(ascii: "{")
            chooseRole(ofValueOfKind: isObject ? .object : .array)
            if role.hasBrackets { extracted.append(byte) }
            updateProgress()
            frames.append(Frame(isObject: isObject, role: role))
            state = isObject ? .firstKey : .firstElement
        default:
            let isString = byte == UInt8(ascii: "\"")
            // An element begins even if it is invalid, so that it can be skipped.
            chooseRole(ofValueOfKind: .scalar)
            guard isString || byte.isScalarByte else { throw JSONError(.unexpectedByte, at: offset) }
            if role.isKept { extracted.append(byte) }
            state = isString ? .string(.value) : .scalar
        }
    }

    /// Reads the part of a string that is in the piece, and returns whether this completes a value.
    private mutating func readString(_ part: StringPart, in piece: Span<UInt8>, from index: inout Int) -> Bool {
        let start = index
        index = piece.indexOfQuoteOrBackslash(from: start)
        // A string that contains JSON has many escapes, so each backslash is skipped together with the byte after it.
        while piece.count &- index >= 2, piece[index] == UInt8(ascii: "\\") {
            index = piece.indexOfQuoteOrBackslash(from: index &+ 2)
        }
        guard index < piece.count, piece[index] == UInt8(ascii: "\"") else {
            if index < piece.count {
                index += 1
                state = .escape(part)
            }
            record(piece.extracting(start..<index), of: part)
            return false
        }
        record(piece.extracting(start..<index), of: part)
        index += 1
        if role.isKept { extracted.append(UInt8(ascii: "\"")) }
        if part == .key { state = .colon }
        return part == .value
    }

    private mutating func beginKey() {
        key.removeAll()
        role = frames.last?.role ?? .skipped
        if role.isKept { extracted.append(UInt8(ascii: "\"")) }
        state = .string(.key)
    }

    /// Chooses the role of the value for the key that was read.
    private mutating func endKey() {
        state = .value
        switch role {
        case .kept: extracted.append(UInt8(ascii: ":"))
        case .skipped, .elements: break
        case .outlined(let members): chooseRole(among: members)
        case .onPath(let depth): chooseRole(onPath: depth)
        }
    }

    private mutating func continueAfterComma() {
        guard let frame = frames.last else { return }
        if frame.role.isKept { extracted.append(UInt8(ascii: ",")) }
        state = frame.isObject ? .key : .value
    }

    private mutating func close(_ byte: UInt8) throws(JSONError) {
        guard let frame = frames.last, frame.isObject == (byte == UInt8(ascii: "}")) else {
            throw JSONError(.unexpectedByte, at: offset)
        }
        frames.removeLast()
        role = frame.role
        if role.hasBrackets { extracted.append(byte) }
    }

    /// Updates the state after a complete value, and returns the finding that ends with the value, or `nil`.
    private mutating func endValue() -> Finding? {
        guard let frame = frames.last else {
            state = .end
            return nil
        }
        state = .afterValue
        switch frame.role {
        case .elements:
            isInElement = false
            range = range.lowerBound..<offset
            return .element
        case .onPath:
            guard let found = neighbor else { return nil }
            neighbor = nil
            range = range.lowerBound..<offset
            return .neighbor(found)
        case .kept, .outlined, .skipped: return nil
        }
    }
}

// MARK: - Roles

extension JSONArrayStreamReader {
    /// Chooses the role of a value of the given kind, depending on the role of its container.
    private mutating func chooseRole(ofValueOfKind kind: ExtractionRole.Kind) {
        if let frame = frames.last, !frame.isObject {
            if case .elements = frame.role {
                beginExtraction(outline)
                isInElement = true
            } else {
                role = frame.role
            }
        }
        guard !role.accepts(kind) else { return }
        if case .outlined = role { extracted.append("null".utf8.span) }
        role = .skipped
    }

    /// Chooses the role of the value for the current key.
    ///
    /// Only the members in `members` are extracted from the object.
    private mutating func chooseRole(among members: [(key: JSONKey, outline: JSONOutline)]) {
        let name = key.resolved
        guard let member = members.first(where: { $0.key.utf8 == name }) else { return role = .skipped }
        let last = frames.count - 1
        if !frames[last].isFirst { extracted.append(UInt8(ascii: ",")) }
        frames[last].isFirst = false
        extracted.append("\"".utf8.span)
        extracted.append(member.key.utf8.span)
        extracted.append("\":".utf8.span)
        role = ExtractionRole(member.outline)
    }

    /// Chooses the role of the value for the current key in an object on the path.
    ///
    /// The first `depth` keys of the path lead to the object.
    private mutating func chooseRole(onPath depth: Int) {
        guard path.indices.contains(depth) else { return }
        let name = key.resolved
        let isLast = depth == path.count - 1
        if path[depth].utf8 == name {
            role = isLast ? .elements : .onPath(depth + 1)
        } else if isLast, let wanted = neighbors.first(where: { $0.utf8 == name }) {
            beginExtraction(.whole)
            neighbor = wanted
        } else {
            role = .skipped
        }
    }

    private mutating func beginExtraction(_ outline: JSONOutline) {
        extracted.removeAll()
        range = offset..<offset
        role = ExtractionRole(outline)
    }

    private mutating func updateProgress() {
        switch role {
        case .onPath(let depth): progress = max(progress, depth)
        case .elements: progress = path.count
        case .skipped, .kept, .outlined: break
        }
    }

    /// Extracts a part of a string, or stores a part of a key, if the role requires it.
    private mutating func record(_ bytes: Span<UInt8>, of part: StringPart) {
        switch role {
        case .kept: extracted.append(bytes)
        case .outlined, .onPath: if part == .key { key.append(bytes) }
        case .skipped, .elements: break
        }
    }
}

/// The way in which a ``JSONArrayStreamReader`` extracts or skips a value.
private enum ExtractionRole: Sendable {
    /// The value is skipped.
    case skipped
    /// The whole value is extracted.
    case kept
    /// The value is an object. Only the given members are extracted.
    case outlined([(key: JSONKey, outline: JSONOutline)])
    /// The value is an object on the path to the array. The given number of path keys leads to the object.
    case onPath(Int)
    /// The value is the array whose elements are extracted.
    case elements

    enum Kind {
        case object, array, scalar
    }

    /// Creates the role of a value whose parts are selected by `outline`.
    init(_ outline: JSONOutline) {
        self = outline.members.map { .outlined($0) } ?? .kept
    }

    /// Returns whether a value of the given kind can have the role.
    func accepts(_ kind: Kind) -> Bool {
        switch self {
        case .skipped, .kept: true
        case .outlined, .onPath: kind == .object
        case .elements: kind == .array
        }
    }

    /// Whether all bytes of the value are extracted.
    var isKept: Bool {
        if case .kept = self { true } else { false }
    }

    /// Whether the brackets or braces around the value are extracted.
    var hasBrackets: Bool {
        switch self {
        case .kept, .outlined: true
        case .skipped, .onPath, .elements: false
        }
    }
}

/// A key whose parts are read from consecutive pieces of a text.
private struct PartialKey: Sendable {
    /// The length, in bytes, above which further parts of a key are ignored.
    ///
    /// Keys of that length are never looked up.
    private static let maximumLength = 256

    private var bytes: [UInt8] = []

    /// Removes the key, but keeps the memory for reuse.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a part of the key, in which escapes are not yet resolved.
    mutating func append(_ part: Span<UInt8>) {
        if bytes.count <= Self.maximumLength { bytes.append(copying: part) }
    }

    /// The key with its escapes resolved, or an empty key if it is malformed.
    var resolved: [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        guard let document = try? JSONDocument(quoted) else { return [] }
        return document.bytes(of: document.root).copied()
    }
}
