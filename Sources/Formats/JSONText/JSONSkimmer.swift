/// Takes the elements of one array out of a JSON text that comes in pieces, one element at a time, and of each element only
/// what is wanted: memory does not grow with the text.
///
/// What is taken out is for a ``JSONDocument`` to read and check. What is left out is only followed to its end: its
/// brackets, its strings and nothing else.
public struct JSONSkimmer: Sendable {
    /// What was found in the text.
    public enum Finding: Equatable, Sendable {
        /// An element of the array.
        case element
        /// A wanted value beside the array.
        case neighbor(JSONKey)
    }

    /// The wanted part of the last finding, as JSON; empty if it ``isTooLong``.
    public private(set) var text: [UInt8] = []
    /// Where the last finding stands in the whole text; if none is complete, where the one begins that was being read.
    public private(set) var range = 0..<0
    /// Whether more of the last finding was wanted than the limit allows.
    public private(set) var isTooLong = false
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

    let path: [JSONKey]
    let neighbors: [JSONKey]
    private let outline: JSONOutline
    private let limit: Int
    private let depthLimit: Int
    var state = State.value
    var frames: [Frame] = []
    /// Whether the value that comes next, or is being read, is kept.
    var role = Role.way(0)
    /// Whether the string that is being read is a key.
    var isKey = false
    var key = SkimmedKey()
    var neighbor: JSONKey?

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
        self.limit = limit
        self.depthLimit = depthLimit
        self.offset = offset
    }

    enum State: Sendable {
        case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd, string, escape, scalar, end
    }

    enum Role: Sendable {
        case skipped
        case kept
        /// Of an object, the members of an outline.
        case outlined([(key: JSONKey, outline: JSONOutline)])
        /// On the way to the array; the number counts the keys that were passed.
        case way(Int)
        /// The array.
        case elements
    }

    struct Frame: Sendable {
        let isObject: Bool
        let role: Role
        /// Whether no wanted member of an outlined object was met yet.
        var isFirst = true
    }
}

// MARK: - Bytes

extension JSONSkimmer {
    /// Looks at a piece of the text until something is found.
    /// - Parameter index: where to begin in the piece; moved on to the first byte that was not looked at.
    /// - Returns: what was found; nil when the piece is used up.
    /// - Throws: ``JSONError`` with an offset in the whole text.
    public mutating func next(in piece: Span<UInt8>, from index: inout Int) throws(JSONError) -> Finding? {
        while index < piece.count {
            let start = index
            defer { offset += index - start }
            let byte = piece[index]
            switch state {
            case .string:
                passString(in: piece, from: &index)
                if state != .string, state != .escape, !isKey, let finding = completed(at: index - start) {
                    return finding
                }
            case .escape:
                keep(byte)
                index += 1
                state = .string
            case .scalar:
                guard byte.isDelimiter else {
                    guard byte.isScalarByte else { throw JSONError(.unexpectedByte, at: offset) }
                    keep(byte)
                    index += 1
                    continue
                }
                if let finding = completed(at: 0) { return finding }
            case .end:
                guard byte.isJSONSpace else { throw JSONError(.trailingBytes, at: offset) }
                index += 1
            default:
                index += 1
                if byte.isJSONSpace { continue }
                try take(byte)
                if state == .commaOrEnd, let finding = completed(at: 1) { return finding }
            }
        }
        return nil
    }

    /// Moves on to the end of a string, or of the piece.
    private mutating func passString(in piece: Span<UInt8>, from index: inout Int) {
        let start = index
        index = piece.endOfStringRun(from: index)
        if isKey { keepKey(piece.extracting(start..<index)) }
        if isKept { append(piece.extracting(start..<index)) }
        guard index < piece.count else { return }
        let byte = piece[index]
        index += 1
        keep(byte)
        if byte == UInt8(ascii: "\\") {
            state = .escape
        } else {
            state = isKey ? .colon : .commaOrEnd
        }
    }

    /// Reads a byte that is no part of a string or scalar.
    private mutating func take(_ byte: UInt8) throws(JSONError) {
        switch (state, byte) {
        case (.valueOrEnd, UInt8(ascii: "]")), (.keyOrEnd, UInt8(ascii: "}")): try close(byte)
        case (.value, _), (.valueOrEnd, _): try begin(byte)
        case (.key, UInt8(ascii: "\"")), (.keyOrEnd, UInt8(ascii: "\"")): beginKey()
        case (.colon, UInt8(ascii: ":")):
            endKey()
            state = .value
        case (.commaOrEnd, UInt8(ascii: ",")):
            guard let frame = frames.last else { throw JSONError(.unexpectedByte, at: offset) }
            if case .kept = frame.role { append(byte) }
            state = frame.isObject ? .key : .value
        case (.commaOrEnd, UInt8(ascii: "]")), (.commaOrEnd, UInt8(ascii: "}")): try close(byte)
        default: throw JSONError(.unexpectedByte, at: offset)
        }
    }
}

// MARK: - Values

extension JSONSkimmer {
    private mutating func begin(_ byte: UInt8) throws(JSONError) {
        chooseRole()
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard frames.count < depthLimit else { throw JSONError(.tooDeep, at: offset) }
            let isObject = byte == UInt8(ascii: "{")
            if !fits(isObject) { refuse() }
            if isWritten { append(byte) }
            noteProgress()
            frames.append(Frame(isObject: isObject, role: role))
            state = isObject ? .keyOrEnd : .valueOrEnd
        case UInt8(ascii: "\""):
            if !isKept { refuse() }
            keep(byte)
            isKey = false
            state = .string
        default:
            guard byte.isScalarByte else { throw JSONError(.unexpectedByte, at: offset) }
            if !isKept { refuse() }
            keep(byte)
            state = .scalar
        }
    }

    private mutating func noteProgress() {
        switch role {
        case .way(let depth): progress = max(progress, depth)
        case .elements: progress = path.count
        case .skipped, .kept, .outlined: break
        }
    }

    /// Whether a value is kept follows from its key, or from the array that it stands in.
    private mutating func chooseRole() {
        guard let frame = frames.last, !frame.isObject else { return }
        switch frame.role {
        case .elements:
            start(outline)
            isInElement = true
        default: role = frame.role
        }
    }

    mutating func start(_ outline: JSONOutline) {
        text.removeAll(keepingCapacity: true)
        isTooLong = false
        range = offset..<offset
        role = outline.members.map { .outlined($0) } ?? .kept
    }

    /// Whether an array or object is what its role asks for.
    private func fits(_ isObject: Bool) -> Bool {
        switch role {
        case .skipped, .kept: true
        case .outlined, .way: isObject
        case .elements: !isObject
        }
    }

    /// A value of another kind than was asked for is left out.
    private mutating func refuse() {
        if case .outlined = role { append("null".utf8.span) }
        role = .skipped
    }

    private mutating func close(_ byte: UInt8) throws(JSONError) {
        guard let frame = frames.popLast(), frame.isObject == (byte == UInt8(ascii: "}")) else {
            throw JSONError(.unexpectedByte, at: offset)
        }
        role = frame.role
        if isWritten { append(byte) }
        state = .commaOrEnd
    }

    /// A value is complete; tells whether that was a finding.
    /// - Parameter length: how far its end lies behind the offset.
    private mutating func completed(at length: Int) -> Finding? {
        state = frames.isEmpty ? .end : .commaOrEnd
        guard let frame = frames.last else { return nil }
        switch frame.role {
        case .elements:
            isInElement = false
            range = range.lowerBound..<offset + length
            return .element
        case .way:
            defer { neighbor = nil }
            range = range.lowerBound..<offset + length
            return neighbor.map { .neighbor($0) }
        case .kept, .outlined, .skipped: return nil
        }
    }

    private var isKept: Bool {
        if case .kept = role { true } else { false }
    }

    /// Whether the brackets of a value of this role are part of what is taken out.
    private var isWritten: Bool {
        switch role {
        case .kept, .outlined: true
        case .skipped, .way, .elements: false
        }
    }

    mutating func keep(_ byte: UInt8) {
        if isKept { append(byte) }
        if isKey, state == .escape || byte == UInt8(ascii: "\\") { keepKey([byte].span) }
    }

    mutating func append(_ byte: UInt8) {
        guard !isTooLong else { return }
        guard text.count < limit else { return tooLong() }
        text.append(byte)
    }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !isTooLong else { return }
        guard text.count + bytes.count <= limit else { return tooLong() }
        text.append(copying: bytes)
    }

    private mutating func tooLong() {
        isTooLong = true
        text = []
    }
}

extension UInt8 {
    /// Whether a number or word ends before this byte.
    fileprivate var isDelimiter: Bool {
        isJSONSpace || self == UInt8(ascii: ",") || self == UInt8(ascii: "]") || self == UInt8(ascii: "}")
    }

    /// Whether a number, `true`, `false` or `null` can hold this byte.
    fileprivate var isScalarByte: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || self == UInt8(ascii: "-")
            || self == UInt8(ascii: "+") || self == UInt8(ascii: ".") || self == UInt8(ascii: "E")
    }
}
