/// An incremental parser for the head of a response.
struct ResponseHeadParser {
    /// The result of parsing one line.
    enum Step: Equatable {
        /// The head is incomplete, or the line is not part of the head.
        case needsMoreLines
        /// The head is complete.
        case complete(HTTPResponseHead)
        /// The lines exceed the size limit.
        case tooLong
    }

    private let fieldNames: [[UInt8]]
    private var head: HTTPResponseHead?
    private var isComplete = false
    private var totalLength = 0

    /// The maximum total size of all lines, in bytes, including the lines of interim responses and trailers.
    static let maximumTotalLength = 80 << 10

    /// Creates a parser that keeps only the fields with these lowercase names.
    init(keeping names: [String]) { fieldNames = names.map { Array($0.utf8) } }

    /// Prepares the parser for the next response.
    mutating func reset() {
        head = nil
        isComplete = false
        totalLength = 0
    }

    /// Parses `line`, which includes its line break.
    ///
    /// `status` is called only for a status line and returns the status code.
    mutating func parse(_ line: [UInt8], status: () -> Int) -> Step {
        totalLength += line.count
        guard totalLength <= Self.maximumTotalLength else { return .tooLong }
        // Trailers are ignored.
        guard !isComplete else { return .needsMoreLines }
        guard let current = head else {
            head = HTTPResponseHead(status: status())
            return .needsMoreLines
        }
        let isInterim = current.status < 200 && current.status != 101
        if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            head = isInterim ? nil : current
            isComplete = !isInterim
            return isInterim ? .needsMoreLines : .complete(current)
        }
        if !isInterim { parse(field: line) }
        return .needsMoreLines
    }

    private mutating func parse(field line: [UInt8]) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = fieldNames.first(where: { Self.isEqual($0, line[..<colon]) })
        else { return }
        let key = String(decoding: name, as: UTF8.self)
        guard head?.fields[key] == nil else { return }
        let value = line[(colon + 1)...].drop(while: Self.isBlank)
        let end = value.lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        head?.fields[key] = String(decoding: value[..<end], as: UTF8.self)
    }

    private static func isEqual(_ name: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
        name.count == bytes.count
            && zip(name, bytes).allSatisfy { name, byte in
                name == byte || ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && name == byte | 0x20)
            }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
