/// Names that are alike, as those of the files that one program writes into a folder, in little memory: what all begin and
/// end with is there once, and where they differ in numbers alone, two characters take one byte.
public struct PackedNames: Sendable {
    /// How many names there are.
    public let count: Int
    /// One after another: what all names begin with, what all end with, the lengths of what stands between, and that itself.
    private var bytes: [UInt8] = []
    private var headCount = 0
    private var tailCount = 0
    /// How many bytes a length takes.
    private var lengthSize = 1
    /// Whether all that stands between is made of digits, points and dashes.
    private var isNumeric = false
    /// Where the middle of every 16th name begins, but for the first one.
    private var marks: [Int] = []

    private static let namesPerMark = 16

    /// Packs names of a folder.
    /// - Parameter order: their places among the entries, in the order in which they are asked for.
    public init(of entries: FolderEntries, order: [Int]) {
        count = order.count
        guard let first = order.first.map(entries.name) else { return }
        let shortest = order.reduce(Int.max) { min($0, entries.nameLength($1)) }
        headCount = order.reduce(shortest) { shared, entry in
            entries.withName(entry) { $0.common(with: first.span, upTo: shared) }
        }
        tailCount = order.reduce(shortest - headCount) { shared, entry in
            entries.withName(entry) { $0.commonEnd(with: first.span, upTo: shared) }
        }
        isNumeric = order.allSatisfy { entries.withName($0) { Self.isNumeric(middle(of: $0)) } }
        let longest = order.reduce(0) { max($0, entries.nameLength($1)) }
        lengthSize = longest - headCount - tailCount < 256 ? 1 : 2
        let size = order.reduce(0) { $0 + self.size(ofMiddle: entries.nameLength($1) - headCount - tailCount) }
        bytes.reserveCapacity(headCount + tailCount + count * lengthSize + size)
        bytes += first.prefix(headCount) + first.suffix(tailCount)
        for entry in order { append(length: entries.nameLength(entry) - headCount - tailCount) }
        for (index, entry) in order.enumerated() {
            if index > 0, index % Self.namesPerMark == 0 { marks.append(bytes.count) }
            entries.withName(entry) { append(middle: middle(of: $0)) }
        }
    }

    /// Appends the bytes of a name.
    public func append(_ index: Int, to name: inout [UInt8]) {
        let block = index / Self.namesPerMark
        var start = block == 0 ? headCount + tailCount + count * lengthSize : marks[block - 1]
        for before in (block * Self.namesPerMark)..<index { start += size(ofMiddle: length(before)) }
        let length = length(index)
        name += bytes[..<headCount]
        if isNumeric {
            let pairs = bytes.span.extracting(start..<start + size(ofMiddle: length))
            name.append(addingCapacity: length) { name in
                for place in 0..<length { name.append(Self.digit(pairs[place / 2], isSecond: place % 2 == 1)) }
            }
        } else {
            name += bytes[start..<start + length]
        }
        name += bytes[headCount..<headCount + tailCount]
    }
}

// MARK: - What stands between

extension PackedNames {
    @_lifetime(copy name)
    private func middle(of name: Span<UInt8>) -> Span<UInt8> {
        name.extracting(headCount..<name.count - tailCount)
    }

    /// How many characters stand between in a name.
    private func length(_ index: Int) -> Int {
        let place = headCount + tailCount + index * lengthSize
        return lengthSize == 1 ? Int(bytes[place]) : Int(bytes[place]) << 8 | Int(bytes[place + 1])
    }

    /// How many bytes so many characters take.
    private func size(ofMiddle length: Int) -> Int { isNumeric ? (length + 1) / 2 : length }

    private static func digit(_ pair: UInt8, isSecond: Bool) -> UInt8 {
        let code = isSecond ? pair & 15 : pair >> 4
        return code < 10 ? UInt8(ascii: "0") + code : code == 10 ? UInt8(ascii: ".") : UInt8(ascii: "-")
    }

    /// No name on Linux has more than 255 bytes, and no path in an archive more than 4,096.
    private mutating func append(length: Int) {
        if lengthSize == 2 { bytes.append(UInt8(truncatingIfNeeded: length >> 8)) }
        bytes.append(UInt8(truncatingIfNeeded: length))
    }

    private mutating func append(middle: Span<UInt8>) {
        guard isNumeric else {
            for place in middle.indices { bytes.append(middle[place]) }
            return
        }
        for place in stride(from: 0, to: middle.count, by: 2) {
            let second = place + 1 < middle.count ? Self.code(of: middle[place + 1]) : 0
            bytes.append((Self.code(of: middle[place]) ?? 0) << 4 | (second ?? 0))
        }
    }

    private static func isNumeric(_ text: Span<UInt8>) -> Bool {
        for place in text.indices where code(of: text[place]) == nil { return false }
        return true
    }

    /// The number that stands for a character.
    private static func code(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "."): 10
        case UInt8(ascii: "-"): 11
        default: nil
        }
    }
}

extension Span<UInt8> {
    /// How many bytes at the beginning are the same as those of another name, which has as many as are looked at.
    fileprivate func common(with other: Span<UInt8>, upTo limit: Int) -> Int {
        var shared = 0
        while shared < limit, self[shared] == other[shared] { shared += 1 }
        return shared
    }

    /// How many bytes at the end are the same as those of another name.
    fileprivate func commonEnd(with other: Span<UInt8>, upTo limit: Int) -> Int {
        var shared = 0
        while shared < limit, self[count - 1 - shared] == other[other.count - 1 - shared] { shared += 1 }
        return shared
    }
}
