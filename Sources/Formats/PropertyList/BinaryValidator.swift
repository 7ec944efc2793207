import Bytes
import JSONText

/// A validator for the objects of a binary property list that can be reached from its root.
///
/// The validator checks markers, lengths, references, key types, cycles and depth. Most files pass ``passesSweep(_:)``,
/// a fast check of the whole object table. For other files, ``walk(_:)`` follows the references from the root and
/// collects the dictionaries that repeat a key.
///
/// ``walk(_:)`` checks each shared object only once, so its running time is proportional to the length of the file. If
/// objects overlap, ``budget`` limits the running time.
///
/// Source: <doc:KeyedArchives>, A.4 and A.5.
struct BinaryValidator {
    /// An array or dictionary whose values are being checked.
    private struct Frame {
        let state: Int
        /// The offset of the next reference to a value.
        var nextReference: Int
        let end: Int
        /// The number of levels of the deepest value checked so far.
        var height: UInt16 = 0
    }

    let layout: BinaryLayout
    let depthLimit: Int
    /// The states of objects, indexed by object number, or by offset if objects share offsets.
    private var packedStates: [UInt16] = []
    private var repeatedKeyFinder = RepeatedKeyFinder()
    /// The budget for payload bytes.
    var budget: WorkBudget
    /// Copies of the dictionaries with repeated keys, without the repeated members.
    private(set) var repairedDictionaries = RepairedDictionaries()

    init(layout: BinaryLayout, limits: PropertyListLimits) {
        self.layout = layout
        depthLimit = limits.depth
        budget = Self.budget(for: layout)
    }

    private static func budget(for layout: BinaryLayout) -> WorkBudget {
        WorkBudget(bytes: 4 * layout.tableOffset + 1 << 20)
    }

    private subscript(state index: Int) -> WalkState<UInt16> {
        get {
            switch packedStates[index] {
            case 0: .new
            case .max: .open
            case let levels: .done(levels)
            }
        }
        set {
            packedStates[index] =
                switch newValue {
                case .new: 0
                case .open: .max
                case .done(let levels): levels
                }
        }
    }

    mutating func validate(_ bytes: Span<UInt8>) throws(PropertyListError) {
        if !passesSweep(bytes) { try walk(bytes) }
    }

    /// Checks the objects that can be reached from the root.
    mutating func walk(_ bytes: Span<UInt8>) throws(PropertyListError) {
        repeatedKeyFinder = RepeatedKeyFinder()
        budget = Self.budget(for: layout)
        packedStates = Array(repeating: 0, count: min(layout.objectCount, layout.tableOffset))
        let size = layout.referenceSize
        _ = try foldDepthFirst(
            layout.rootNumber,
            enter: { (number, depth) throws(PropertyListError) in try enter(number, depth: depth, in: bytes) },
            next: { (frame) throws(PropertyListError) in
                guard frame.nextReference < frame.end else { return nil }
                frame.nextReference += size
                return try reference(at: frame.nextReference - size, in: bytes)
            },
            add: { height, frame in frame.height = max(frame.height, height) },
            close: { frame in
                self[state: frame.state] = .done(frame.height + 1)
                return frame.height + 1
            })
    }

    func reference(at offset: Int, in bytes: Span<UInt8>) throws(PropertyListError) -> Int {
        let number = bytes.bigEndian(at: offset, width: layout.referenceSize)
        guard number < UInt64(layout.objectCount) else {
            throw PropertyListError(.badReference, at: offset, "a reference to an object that is not there")
        }
        return Int(number)
    }

    /// Checks a scalar and returns its number of levels, or begins to check a container.
    private mutating func enter(
        _ number: Int, depth: Int, in bytes: Span<UInt8>
    ) throws(PropertyListError) -> EnteredNode<UInt16, Frame> {
        let offset = layout.offset(of: number, in: bytes)
        let state = layout.sharesOffsets ? Int(offset) : number
        switch self[state: state] {
        case .open:
            throw PropertyListError(.containerCycle, at: Int(offset), "a container that contains itself")
        case .done(let levels):
            guard depth + Int(levels) <= depthLimit else { throw tooDeep(Int(offset)) }
            return .known(levels)
        case .new: break
        }
        guard depth < depthLimit else { throw tooDeep(Int(offset)) }
        self[state: state] = .done(1)
        let kind = bytes[Int(offset)] >> 4
        guard kind == 0xA || kind == 0xC || kind == 0xD else {
            try checkScalar(at: Int(offset), in: bytes)
            return .known(1)
        }
        let frame = try open(offset, depth: depth, state: state, isDictionary: kind == 0xD, in: bytes)
        guard let frame else { return .known(1) }
        self[state: state] = .open
        return .open(frame)
    }

    private func tooDeep(_ offset: Int) -> PropertyListError {
        PropertyListError(.tooDeep, at: offset, "more than \(depthLimit) levels")
    }

    /// Checks the keys of a container and returns a frame for its values, or `nil` if it is empty.
    private mutating func open(
        _ offset: UInt32, depth: Int, state: Int, isDictionary: Bool, in bytes: Span<UInt8>
    ) throws(PropertyListError) -> Frame? {
        let unit = layout.referenceSize * (isDictionary ? 2 : 1)
        let extent = try extent(at: Int(offset), unit: unit, in: bytes)
        var frame = Frame(state: state, nextReference: extent.start, end: extent.start + extent.count * unit)
        guard extent.count > 0 else { return nil }
        if isDictionary {
            frame.nextReference = extent.start + extent.count * layout.referenceSize
            let members = PropertyListMembers(start: extent.start, count: extent.count)
            let repeated = try repeatedKeys(of: members, depth: depth, in: bytes)
            if !repeated.isEmpty {
                guard budget.charge(bytes: extent.count * unit) else {
                    throw RepeatedKeyFinder.budgetExceeded(at: Int(offset))
                }
                repairedDictionaries.append(offset, members, without: repeated, layout: layout, in: bytes)
            }
            frame.height = 1
        }
        return frame
    }

    private mutating func repeatedKeys(
        of members: PropertyListMembers, depth: Int, in bytes: Span<UInt8>
    ) throws(PropertyListError) -> [Int] {
        if repeatedKeyFinder.hasChecked(members, layout: layout, in: bytes) { return [] }
        for position in 0..<members.count {
            let number = try reference(at: members.start + position * layout.referenceSize, in: bytes)
            let offset = Int(layout.offset(of: number, in: bytes))
            guard bytes[offset] >> 4 == 5 || bytes[offset] >> 4 == 6 else {
                throw PropertyListError(.badKeyType, at: offset, "a dictionary key that is no string")
            }
            _ = try enter(number, depth: depth, in: bytes)
        }
        return try repeatedKeyFinder.repeatedKeys(
            of: members, layout: layout, in: bytes, budget: &budget)
    }

    /// Returns the payload offset and the count of an object, after checking that it ends before the offset table.
    mutating func extent(
        at offset: Int, unit: Int, in bytes: Span<UInt8>
    ) throws(PropertyListError) -> (start: Int, count: Int) {
        var start = offset + 1
        var count = UInt64(bytes[offset] & 0xF)
        if count == 15 {
            guard start < layout.tableOffset, bytes[start] >> 4 == 1, bytes[start] & 0xF <= 3 else {
                throw PropertyListError(.badLength, at: start, "a count that is no integer")
            }
            let width = 1 << Int(bytes[start] & 3)
            count = bytes.bigEndian(at: start + 1, width: width)
            start += 1 + width
        }
        let available = layout.tableOffset - start
        guard available >= 0, count <= UInt64(available / unit) else {
            throw PropertyListError(.badLength, at: offset, "an object that does not fit in front of the offset table")
        }
        guard budget.charge(bytes: Int(count) * unit) else { throw RepeatedKeyFinder.budgetExceeded(at: offset) }
        return (start, Int(count))
    }

    private mutating func checkScalar(at offset: Int, in bytes: Span<UInt8>) throws(PropertyListError) {
        let marker = bytes[offset]
        switch marker {
        case 0x00, 0x08, 0x09:
            return
        case 0x10...0x13:
            try checkLength(1 << Int(marker & 3), at: offset)
        case 0x14:
            try checkLength(16, at: offset)
            let high = bytes.bigEndian(at: offset + 1, width: 8)
            let low = bytes.bigEndian(at: offset + 9, width: 8)
            guard high == 0 || high == .max && low >> 63 == 1 else {
                throw PropertyListError(.badMarker, at: offset, "an integer beyond 64 bits")
            }
        case 0x22:
            try checkLength(4, at: offset)
        case 0x23, 0x33:
            try checkLength(8, at: offset)
        case 0x40...0x4F:
            _ = try extent(at: offset, unit: 1, in: bytes)
        case 0x50...0x5F:
            let extent = try extent(at: offset, unit: 1, in: bytes)
            guard let fault = bytes.firstHighByte(from: extent.start, count: extent.count) else { return }
            throw PropertyListError(.badString, at: fault, "a byte above 0x7F in an ASCII string")
        case 0x60...0x6F:
            _ = try extent(at: offset, unit: 2, in: bytes)
        case 0x80...0x8F:
            try checkUID(at: offset, in: bytes)
        default:
            throw PropertyListError(.badMarker, at: offset, "an object of no kind that version 00 has")
        }
    }

    private func checkLength(_ length: Int, at offset: Int) throws(PropertyListError) {
        guard length < layout.tableOffset - offset else {
            throw PropertyListError(.badLength, at: offset, "an object that does not fit in front of the offset table")
        }
    }

    private func checkUID(at offset: Int, in bytes: Span<UInt8>) throws(PropertyListError) {
        let width = Int(bytes[offset] & 0xF) + 1
        try checkLength(width, at: offset)
        guard width > 4 else { return }
        for index in offset + 1..<offset + 1 + width - 4 where bytes[index] != 0 {
            throw PropertyListError(.badUID, at: offset, "a UID above 4294967295")
        }
    }
}

extension Span<UInt8> {
    /// Returns the index of the first byte above 0x7F, or `nil` if there is none.
    fileprivate func firstHighByte(from start: Int, count: Int) -> Int? {
        var index = start
        let end = start + count
        while index + 8 <= end {
            let high = word(at: index) & 0x8080_8080_8080_8080
            if high != 0 { return index + high.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < end {
            if self[index] >= 0x80 { return index }
            index += 1
        }
        return nil
    }
}

/// A fast check that reads the object table twice.
///
/// Without it, converting a Sift queue takes 8 % longer.
///
/// A file passes if all its objects are valid, including unreachable objects, no dictionary repeats a key, and each
/// container precedes the containers in it. Encoders write objects in this order, which rules out cycles.
extension BinaryValidator {
    /// Returns whether all objects pass the fast check, so that ``walk(_:)`` is not needed.
    mutating func passesSweep(_ bytes: Span<UInt8>) -> Bool {
        guard !layout.sharesOffsets else { return false }
        // The number of levels of each object, or 0 for a container that was not checked yet.
        var levels = [UInt16](repeating: 0, count: layout.objectCount)
        var levelCounts = levels.mutableSpan
        guard checkScalars(bytes, levels: &levelCounts) else { return false }
        for number in (0..<levelCounts.count).reversed() where levelCounts[number] == 0 {
            guard let count = countLevels(of: number, in: bytes, levels: levelCounts.span), count <= depthLimit else {
                return false
            }
            levelCounts[number] = UInt16(count)
        }
        return true
    }

    /// Checks all scalars, sets the number of levels of each scalar to 1, and returns whether all scalars are valid.
    private mutating func checkScalars(_ bytes: Span<UInt8>, levels: inout MutableSpan<UInt16>) -> Bool {
        // A scalar of fixed size that starts at or before this offset ends before the table.
        let safeEnd = layout.tableOffset - 17
        for number in levels.indices {
            let offset = Int(layout.offset(of: number, in: bytes))
            switch bytes[offset] {
            case 0xA0...0xAF, 0xC0...0xDF: continue
            case 0x80...0x83, 0x10...0x13, 0x22, 0x23, 0x33, 0x08, 0x09:
                guard offset <= safeEnd else { fallthrough }
            default:
                guard (try? checkScalar(at: offset, in: bytes)) != nil else { return false }
            }
            levels[number] = 1
        }
        return true
    }

    /// Returns the number of levels of a container from the levels of its values, or `nil` if the container is invalid.
    private mutating func countLevels(of number: Int, in bytes: Span<UInt8>, levels: Span<UInt16>) -> Int? {
        let offset = Int(layout.offset(of: number, in: bytes))
        let isDictionary = bytes[offset] >> 4 == 0xD
        let size = layout.referenceSize
        guard let extent = try? extent(at: offset, unit: isDictionary ? 2 * size : size, in: bytes) else { return nil }
        var start = extent.start
        var height: UInt16 = 0
        if isDictionary, extent.count > 0 {
            guard areDistinctKeys(from: start, count: extent.count, in: bytes) else { return nil }
            start += extent.count * size
            height = 1
        }
        let end = start + extent.count * size
        while start < end {
            let value = bytes.bigEndian(at: start, width: size)
            guard value < UInt64(levels.count) else { return nil }
            let count = levels[Int(truncatingIfNeeded: value)]
            guard count > 0 else { return nil }
            height = max(height, count)
            start &+= size
        }
        return Int(height) + 1
    }

    private mutating func areDistinctKeys(from start: Int, count: Int, in bytes: Span<UInt8>) -> Bool {
        let members = PropertyListMembers(start: start, count: count)
        if repeatedKeyFinder.hasChecked(members, layout: layout, in: bytes) { return true }
        for position in 0..<count {
            guard let number = try? reference(at: start + position * layout.referenceSize, in: bytes) else {
                return false
            }
            let kind = bytes[Int(layout.offset(of: number, in: bytes))] >> 4
            guard kind == 5 || kind == 6 else { return false }
        }
        // A repeated key has to be removed. The walk does that.
        return
            (try? repeatedKeyFinder.repeatedKeys(
                of: members, layout: layout, in: bytes, budget: &budget))?.isEmpty ?? false
    }
}

/// The checked trailer of a binary property list, which locates its objects.
///
/// Source: <doc:KeyedArchives>, A.2 to A.4.
struct BinaryLayout: Sendable {
    static let headerLength = 8
    private static let trailerLength = 32
    /// The total length, in bytes, of a header, one object, one offset and a trailer.
    private static let minimumLength = 42

    /// The size of an offset-table entry, in bytes: 1 to 8.
    let offsetSize: Int
    /// The size of a reference to an object, in bytes: 1 to 8.
    let referenceSize: Int
    let objectCount: Int
    let rootNumber: Int
    /// The offset of the offset table, which is also the end of the objects.
    let tableOffset: Int

    /// Reads and checks the trailer and the offset table.
    init(of bytes: Span<UInt8>) throws(PropertyListError) {
        let length = bytes.count
        guard length >= Self.minimumLength else {
            throw PropertyListError(
                .truncated, at: length, "\(length.counted("byte")) cannot hold a binary property list")
        }
        let trailer = length - Self.trailerLength
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw PropertyListError(.badTrailer, at: trailer + 6, "offsets or references of an impossible width")
        }
        let count = bytes.bigEndian(at: trailer + 8, width: 8)
        guard count >= 1, count <= UInt64(length) else {
            throw PropertyListError(.badTrailer, at: trailer + 8, "an impossible number of objects")
        }
        let root = bytes.bigEndian(at: trailer + 16, width: 8)
        guard root < count else { throw PropertyListError(.badTrailer, at: trailer + 16, "a root beyond the objects") }
        let table = bytes.bigEndian(at: trailer + 24, width: 8)
        guard table >= 9, table <= UInt64(length - 33) else {
            throw PropertyListError(.badTrailer, at: trailer + 24, "an offset table outside of the file")
        }
        objectCount = Int(count)
        rootNumber = Int(root)
        tableOffset = Int(table)
        // The count is at most the length, which fits in 32 bits, so nothing overflows here.
        guard tableOffset + objectCount * offsetSize == trailer else {
            throw PropertyListError(.badTrailer, at: trailer + 24, "an offset table that does not end at the trailer")
        }
        guard referenceSize == 8 || count <= 1 << (8 * UInt64(referenceSize)) else {
            throw PropertyListError(.badTrailer, at: trailer + 7, "references too narrow for the objects")
        }
        guard offsetSize == 8 || table < 1 << (8 * UInt64(offsetSize)) else {
            throw PropertyListError(.badTrailer, at: trailer + 6, "offsets too narrow for the objects")
        }
        var entry = tableOffset
        while entry < trailer {
            let offset = bytes.bigEndian(at: entry, width: offsetSize)
            guard offset >= UInt64(Self.headerLength), offset < table else {
                throw PropertyListError(.badOffset, at: entry, "an offset outside of the objects")
            }
            entry += offsetSize
        }
    }

    /// Whether there are more objects than bytes before the offset table, so that some objects share an offset.
    var sharesOffsets: Bool { objectCount > tableOffset }

    /// Returns the offset of the marker of an object.
    @inline(__always)
    func offset(of number: Int, in bytes: Span<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: bytes.bigEndian(at: tableOffset + number * offsetSize, width: offsetSize))
    }

    /// Returns the payload offset of a checked object, and its number of bytes, UTF-16 units, elements or members.
    @inline(__always)
    static func extent(at offset: UInt32, in bytes: Span<UInt8>) -> (start: Int, count: Int) {
        let start = Int(offset) + 1
        let short = Int(bytes[start - 1] & 0xF)
        if short < 15 { return (start, short) }
        let width = 1 << Int(bytes[start] & 3)
        return (start + 1 + width, Int(truncatingIfNeeded: bytes.bigEndian(at: start + 1, width: width)))
    }
}

extension Span<UInt8> {
    /// Returns the big-endian number of `width` bytes at `index`, where `width` is 1 to 8.
    @inline(__always)
    func bigEndian(at index: Int, width: Int) -> UInt64 {
        // Eight bytes can be loaded wherever an object or an offset begins, because the trailer follows.
        word(at: index).byteSwapped &>> UInt64(truncatingIfNeeded: 64 &- 8 &* width)
    }
}

/// The result of entering a node of a graph during a traversal.
enum EnteredNode<Value, Frame> {
    /// The value of the node, which was computed before or does not depend on other nodes.
    case known(Value)
    /// The initial frame of a node whose value depends on other nodes.
    case open(Frame)
}

/// The state of a node of a graph during a traversal.
enum WalkState<Value> {
    case new
    /// The node was entered, and its successors are being visited.
    case open
    case done(Value)
}

/// Computes the value of a node from the values of its successors, depth first.
///
/// The function is not recursive, because a hostile graph may be deeper than any stack. The caller records open nodes
/// and known values, so that a shared node is computed once and a cycle ends.
///
/// - Parameters:
///   - root: The node whose value is computed.
///   - enter: Returns the value or the initial frame of a node. `depth` is the number of open nodes around it.
///   - next: Returns the next successor of an open node, or `nil` if there are no more.
///   - add: Combines the value of a successor into the frame of an open node.
///   - close: Returns the value of a node after all its successors were added.
/// - Returns: The value of `root`.
/// - Throws: The errors of `enter` and `next`.
func foldDepthFirst<Node, Value, Frame, Failure: Error>(
    _ root: Node, enter: (_ node: Node, _ depth: Int) throws(Failure) -> EnteredNode<Value, Frame>,
    next: (inout Frame) throws(Failure) -> Node?, add: (Value, inout Frame) -> Void, close: (Frame) -> Value
) throws(Failure) -> Value {
    var frames: [Frame] = []
    switch try enter(root, 0) {
    case .known(let value): return value
    case .open(let frame): frames.append(frame)
    }
    while true {
        let last = frames.count - 1
        var frame = frames[last]
        var inner: Frame?
        while inner == nil, let node = try next(&frame) {
            switch try enter(node, frames.count) {
            case .known(let value): add(value, &frame)
            case .open(let opened): inner = opened
            }
        }
        if let inner {
            frames[last] = frame
            frames.append(inner)
            continue
        }
        let value = close(frame)
        frames.removeLast()
        guard last > 0 else { return value }
        add(value, &frames[last - 1])
    }
}
