/// Puts the head of an answer together from its lines, as they come.
struct HeadLines {
    /// What a line means.
    enum Step: Equatable {
        /// There is more to come.
        case more
        /// The head of the answer is complete.
        case complete(HTTPHead)
        /// This is longer than any honest header.
        case tooLong
    }

    private let wanted: [[UInt8]]
    private var head: HTTPHead?
    private var isComplete = false
    private var length = 0

    /// How long all lines may be together, in bytes, those of interim answers and trailers too.
    static let lengthLimit = 80 << 10

    /// - Parameter wanted: the names of the fields to keep, in lower case.
    init(wanted: [String]) { self.wanted = wanted.map { Array($0.utf8) } }

    /// Makes it ready for the next answer.
    mutating func restart() {
        head = nil
        isComplete = false
        length = 0
    }

    /// Takes a line with its end.
    /// - Parameter status: the status code, once the first line has come.
    mutating func take(_ line: [UInt8], status: () -> Int) -> Step {
        length += line.count
        guard length <= Self.lengthLimit else { return .tooLong }
        // What follows a body is of no interest.
        guard !isComplete else { return .more }
        guard let current = head else {
            head = HTTPHead(status: status())
            return .more
        }
        let isInterim = current.status < 200 && current.status != 101
        if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            head = isInterim ? nil : current
            isComplete = !isInterim
            return isInterim ? .more : .complete(current)
        }
        if !isInterim { take(field: line) }
        return .more
    }

    private mutating func take(field line: [UInt8]) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = wanted.first(where: { Self.isEqual($0, line[..<colon]) })
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
