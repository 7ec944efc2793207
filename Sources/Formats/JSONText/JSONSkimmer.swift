import Bytes

/// Takes the elements of one array out of a JSON text that comes in pieces, one element at a time, and of each element only
/// what is wanted: memory does not grow with the text.
///
/// It answers where each element begins and ends, and what the wanted members in it are, as JSON text. It is not the full
/// reader (``JSONDocument``), which needs all of a text in memory and makes nodes of all that is in it: an archive of
/// requests has gigabytes, and little of it is wanted. What is taken out is for that reader to read and check. What is left
/// out is only followed to its end: its brackets, its strings and nothing else.
///
/// It is a state machine. ``State`` says which bytes may come next in the grammar; the role (``SkimmedRole``) says what
/// becomes of the value that they belong to, and is chosen where the value begins.
public struct JSONSkimmer: Sendable {
    /// What was found in the text.
    public enum Finding: Equatable, Sendable {
        /// An element of the array.
        case element
        /// A wanted value beside the array.
        case neighbor(JSONKey)
    }

    /// Where the next byte stands in the grammar.
    private enum State: Equatable {
        /// Before a value.
        case value
        /// Behind `[`: before a value or `]`.
        case firstElement
        /// Behind `{`: before a key or `}`.
        case firstKey
        /// Behind a comma in an object: before a key.
        case key
        /// Behind a key: before `:`.
        case colon
        /// In a string.
        case string(StringPart)
        /// Behind a backslash in a string.
        case escape(StringPart)
        /// In a number or a word, which ends before a byte that it cannot have.
        case scalar
        /// Behind a value in an array or object: before a comma, `]` or `}`.
        case afterValue
        /// Behind the outermost value.
        case end
    }

    /// What a string is a part of an object, or of an array, as.
    private enum StringPart {
        case key, value
    }

    /// An array or object that is open.
    private struct Frame {
        let isObject: Bool
        let role: SkimmedRole
        /// Whether no wanted member of an outlined object was met yet.
        var isFirst = true
    }

    /// What the last finding keeps, as JSON; empty if it ``isTooLong``.
    public var text: [UInt8] { taken.bytes }
    /// Whether more of the last finding was wanted than the limit allows.
    public var isTooLong: Bool { taken.isTooLong }
    /// Where the last finding stands in the whole text; if none is complete, where the one begins that was being read.
    public private(set) var range = 0..<0
    /// How many of the keys that lead to the array were met with a value as it should be, at most.
    public private(set) var progress = 0
    /// Whether the array was found.
    public var foundArray: Bool { progress == path.count }
    /// How many bytes were looked at.
    public private(set) var offset: Int
    /// Whether the outermost value is complete.
    public var isComplete: Bool { state == .end }
    /// Whether an element was begun and is not complete.
    public private(set) var isInElement = false

    private let path: [JSONKey]
    private let neighbors: [JSONKey]
    private let outline: JSONOutline
    private let depthLimit: Int
    private var state = State.value
    private var frames: [Frame] = []
    /// What becomes of the value that comes next or is being read; while a key is read, of the object that it stands in.
    private var role = SkimmedRole.way(0)
    /// The key that was read last, where its object is on the way or outlined.
    private var key = SkimmedKey()
    /// The key of the wanted value beside the array that is being read.
    private var neighbor: JSONKey?
    private var taken: LimitedBytes

    /// Begins before the first byte of a text.
    /// - Parameters:
    ///   - path: the keys that lead to the array.
    ///   - neighbors: keys beside the array whose values are wanted too.
    ///   - outline: what is wanted of an element.
    ///   - limit: the most bytes that are kept of one element.
    ///   - depthLimit: how many arrays and objects may be open at once.
    ///   - offset: the place of the first byte in the whole text.
    public init(
        path: [JSONKey], neighbors: [JSONKey] = [], outline: JSONOutline, limit: Int, depthLimit: Int = 512,
        offset: Int = 0
    ) {
        self.path = path
        self.neighbors = neighbors
        self.outline = outline
        self.depthLimit = depthLimit
        self.offset = offset
        taken = LimitedBytes(limit: limit)
    }

    /// Looks at a piece of the text until something is found.
    /// - Parameter index: where to begin in the piece; moved on to the first byte that was not looked at.
    /// - Returns: what was found; nil when the piece is used up.
    /// - Throws: ``JSONError`` with an offset in the whole text.
    public mutating func next(in piece: Span<UInt8>, from index: inout Int) throws(JSONError) -> Finding? {
        while index < piece.count {
            let start = index
            let isValueComplete = try step(in: piece, from: &index)
            offset += index - start
            if isValueComplete, let finding = endValue() { return finding }
        }
        return nil
    }
}

// MARK: - States

extension JSONSkimmer {
    /// Takes the next byte, or in a string all up to its end, or that of the piece.
    /// - Returns: whether a value is complete.
    @inline(__always)
    private mutating func step(in piece: Span<UInt8>, from index: inout Int) throws(JSONError) -> Bool {
        let byte = piece[index]
        switch state {
        case .string(let part):
            return passString(part, in: piece, from: &index)
        case .escape(let part):
            keep(piece.extracting(index..<index + 1), of: part)
            index += 1
            state = .string(part)
            return false
        case .scalar:
            if byte.isDelimiter { return true }
            guard byte.isScalarByte else { throw JSONError(.unexpectedByte, at: offset) }
            if role.isKept { taken.append(byte) }
            index += 1
            return false
        case .value, .firstElement, .firstKey, .key, .colon, .afterValue, .end:
            index += 1
            return byte.isJSONSpace ? false : try take(byte)
        }
    }

    /// Takes a byte that is no white space and no part of a string, a number or a word.
    /// - Returns: whether a value is complete.
    private mutating func take(_ byte: UInt8) throws(JSONError) -> Bool {
        switch (state, byte) {
        case (.firstElement, UInt8(ascii: "]")), (.firstKey, UInt8(ascii: "}")), (.afterValue, UInt8(ascii: "]")),
            (.afterValue, UInt8(ascii: "}")):
            try close(byte)
            return true
        case (.value, _), (.firstElement, _): try begin(byte)
        case (.firstKey, UInt8(ascii: "\"")), (.key, UInt8(ascii: "\"")): beginKey()
        case (.colon, UInt8(ascii: ":")): endKey()
        case (.afterValue, UInt8(ascii: ",")): goOn()
        case (.end, _): throw JSONError(.trailingBytes, at: offset)
        default: throw JSONError(.unexpectedByte, at: offset)
        }
        return false
    }

    private mutating func begin(_ byte: UInt8) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard frames.count < depthLimit else { throw JSONError(.tooDeep, at: offset) }
            let isObject = byte == UInt8(ascii: "{")
            chooseRole(isObject ? .object : .array)
            if role.hasBrackets { taken.append(byte) }
            noteProgress()
            frames.append(Frame(isObject: isObject, role: role))
            state = isObject ? .firstKey : .firstElement
        case UInt8(ascii: "\""):
            chooseRole(.scalar)
            if role.isKept { taken.append(byte) }
            state = .string(.value)
        default:
            guard byte.isScalarByte else { throw JSONError(.unexpectedByte, at: offset) }
            chooseRole(.scalar)
            if role.isKept { taken.append(byte) }
            state = .scalar
        }
    }

    /// Moves on to the end of a string, to an escape that the end of the piece cuts, or to that end.
    /// - Returns: whether that completes a value.
    private mutating func passString(_ part: StringPart, in piece: Span<UInt8>, from index: inout Int) -> Bool {
        let start = index
        index = piece.endOfStringRun(from: start)
        // A string that holds JSON has an escape every few bytes: whatever stands behind a backslash is passed with it.
        while piece.count &- index >= 2, piece[index] == UInt8(ascii: "\\") {
            index = piece.endOfStringRun(from: index &+ 2)
        }
        guard index < piece.count, piece[index] == UInt8(ascii: "\"") else {
            if index < piece.count {
                index += 1
                state = .escape(part)
            }
            keep(piece.extracting(start..<index), of: part)
            return false
        }
        keep(piece.extracting(start..<index), of: part)
        index += 1
        if role.isKept { taken.append(UInt8(ascii: "\"")) }
        if part == .key { state = .colon }
        return part == .value
    }

    private mutating func beginKey() {
        key.removeAll()
        role = frames.last?.role ?? .skipped
        if role.isKept { taken.append(UInt8(ascii: "\"")) }
        state = .string(.key)
    }

    /// Chooses the role of the value of a key.
    private mutating func endKey() {
        state = .value
        switch role {
        case .kept: taken.append(UInt8(ascii: ":"))
        case .skipped, .elements: break
        case .outlined(let members): chooseRole(among: members)
        case .way(let depth): chooseRole(onWay: depth)
        }
    }

    private mutating func goOn() {
        guard let frame = frames.last else { return }
        if frame.role.isKept { taken.append(UInt8(ascii: ",")) }
        state = frame.isObject ? .key : .value
    }

    private mutating func close(_ byte: UInt8) throws(JSONError) {
        guard let frame = frames.popLast(), frame.isObject == (byte == UInt8(ascii: "}")) else {
            throw JSONError(.unexpectedByte, at: offset)
        }
        role = frame.role
        if role.hasBrackets { taken.append(byte) }
    }

    /// Goes on behind a complete value.
    /// - Returns: what was found, if it is something.
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
        case .way:
            guard let found = neighbor else { return nil }
            neighbor = nil
            range = range.lowerBound..<offset
            return .neighbor(found)
        case .kept, .outlined, .skipped: return nil
        }
    }
}

// MARK: - Roles

extension JSONSkimmer {
    /// Chooses the role of a value that begins: in an array it follows from the role of the array, and a value of another
    /// kind than is asked for is left out.
    private mutating func chooseRole(_ kind: SkimmedRole.Kind) {
        if let frame = frames.last, !frame.isObject {
            if case .elements = frame.role {
                startTaking(outline)
                isInElement = true
            } else {
                role = frame.role
            }
        }
        guard !role.fits(kind) else { return }
        if case .outlined = role { taken.append("null".utf8.span) }
        role = .skipped
    }

    /// Chooses the role of a member of an outlined object.
    private mutating func chooseRole(among members: [(key: JSONKey, outline: JSONOutline)]) {
        let name = key.resolved
        guard let member = members.first(where: { $0.key.utf8 == name }) else { return role = .skipped }
        let last = frames.count - 1
        if !frames[last].isFirst { taken.append(UInt8(ascii: ",")) }
        frames[last].isFirst = false
        taken.append("\"".utf8.span)
        taken.append(member.key.utf8.span)
        taken.append("\":".utf8.span)
        role = SkimmedRole(member.outline)
    }

    /// Chooses the role of a member of an object on the way to the array, so many keys being behind.
    private mutating func chooseRole(onWay depth: Int) {
        guard path.indices.contains(depth) else { return }
        let name = key.resolved
        let isLast = depth == path.count - 1
        if path[depth].utf8 == name {
            role = isLast ? .elements : .way(depth + 1)
        } else if isLast, let wanted = neighbors.first(where: { $0.utf8 == name }) {
            startTaking(.whole)
            neighbor = wanted
        } else {
            role = .skipped
        }
    }

    private mutating func startTaking(_ outline: JSONOutline) {
        taken.removeAll()
        range = offset..<offset
        role = SkimmedRole(outline)
    }

    private mutating func noteProgress() {
        switch role {
        case .way(let depth): progress = max(progress, depth)
        case .elements: progress = path.count
        case .skipped, .kept, .outlined: break
        }
    }

    /// Takes a part of a string where it is wanted.
    @inline(__always)
    private mutating func keep(_ bytes: Span<UInt8>, of part: StringPart) {
        switch role {
        case .kept: taken.append(bytes)
        case .outlined, .way: if part == .key { key.append(bytes) }
        case .skipped, .elements: break
        }
    }
}
