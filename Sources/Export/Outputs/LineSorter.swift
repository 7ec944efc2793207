import Bytes
import Files
import Glibc
import JSONText

/// Lines with the ranks and keys by which they are sorted.
struct RankedLines: Sendable {
    /// The rank and the position of a line.
    struct Line: Sendable {
        /// The number by which lines are sorted, such as a time.
        let rank: Int64
        /// The number of bytes of the key of the line, by which lines with equal ranks are sorted.
        let keySize: Int
        /// The range of the key and the line in the text.
        let range: Range<Int>
    }

    private(set) var text = TextBuffer()
    private(set) var lines: [Line] = []
    /// The number of rows that have no line because they have no time.
    var untimedCount = 0

    /// Removes all lines, but keeps their memory for reuse.
    mutating func removeAll() {
        text.removeAll()
        lines.removeAll(keepingCapacity: true)
        untimedCount = 0
    }

    /// Appends the line that `body` writes after `key`.
    mutating func append(at rank: Int64, key: Span<UInt8> = .init(), _ body: (inout TextBuffer) -> Void) {
        let start = text.count
        text.append(copying: key)
        body(&text)
        lines.append(Line(rank: rank, keySize: key.count, range: start..<text.count))
    }
}

/// A sorter of lines by their ranks, and then by the bytes of their keys.
///
/// Lines with equal ranks and keys are kept in the order in which they were added.
///
/// If the lines need more memory than a limit, they are sorted in parts. Each sorted part is written to a spool as a
/// run, and the runs are merged at the end.
struct LineSorter {
    /// The size, in bytes, of the pieces that are written.
    private static let pieceSize = 1 << 20
    /// The size of the buffers for reading all runs, in bytes.
    private static let readingSize = 16 << 20
    /// The minimum size, in bytes, of the buffer for reading a run.
    private static let minReadingSize = 64 << 10

    private let folder: String
    private let memoryLimit: Int
    private let recycle: (RankedLines) -> Void
    private var unsorted: [RankedLines] = []
    /// The size of the memory for the unsorted lines, in bytes.
    private var unsortedSize = 0
    private var spool: SpoolFile?
    /// The ranges of the sorted runs in the spool.
    private var runs: [Range<Int>] = []

    /// Creates a sorter whose spool is on the disk of `folder`.
    ///
    /// Lines that need at most `memoryLimit` bytes of memory are sorted at a time. `recycle` is called with lines that are
    /// no longer needed, so that their memory can be reused.
    init(folder: String, memoryLimit: Int = 32 << 20, recycle: @escaping (RankedLines) -> Void = { _ in }) {
        self.folder = folder
        self.memoryLimit = memoryLimit
        self.recycle = recycle
    }

    mutating func add(_ lines: RankedLines) throws(FileError) {
        if !unsorted.isEmpty, unsortedSize + lines.text.capacity > memoryLimit { try spoolRun() }
        unsorted.append(lines)
        unsortedSize += lines.text.capacity
    }

    /// Passes all lines to `write` in order, without their keys.
    mutating func finish(_ write: (Span<UInt8>) throws -> Void) throws {
        var piece: [UInt8] = []
        func append(_ line: Span<UInt8>) throws {
            piece.append(copying: line)
            guard piece.count >= Self.pieceSize else { return }
            try write(piece.span)
            piece.removeAll(keepingCapacity: true)
        }
        if runs.isEmpty {
            try forEachSortedLine { line, text in try append(text.extracting(droppingFirst: line.keySize)) }
        } else {
            try spoolRun()
            try forEachMergedLine(append)
        }
        try write(piece.span)
    }

    // MARK: Sorting

    /// The position of a line in the unsorted lines.
    private struct Position {
        let rank: Int64
        let part: UInt32
        let line: UInt32
    }

    private func precedes(_ left: Position, _ right: Position) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        let (leftKey, rightKey) = (key(at: left), key(at: right))
        let order = leftKey.span.ordered(against: rightKey.span)
        return order == 0 ? (left.part, left.line) < (right.part, right.line) : order < 0
    }

    private func key(at position: Position) -> ArraySlice<UInt8> {
        let line = unsorted[Int(position.part)].lines[Int(position.line)]
        return unsorted[Int(position.part)].text[line.range].prefix(line.keySize)
    }

    /// Calls `body` with each of the unsorted lines, and with its key and text, in order.
    private func forEachSortedLine<Failure: Error>(
        _ body: (RankedLines.Line, Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var positions: [Position] = []
        positions.reserveCapacity(unsorted.reduce(0) { $0 + $1.lines.count })
        for (part, lines) in unsorted.enumerated() {
            for (index, line) in lines.lines.enumerated() {
                positions.append(Position(rank: line.rank, part: UInt32(part), line: UInt32(index)))
            }
        }
        positions.sort(by: precedes)
        for position in positions {
            let lines = unsorted[Int(position.part)]
            let line = lines.lines[Int(position.line)]
            try body(line, lines.text.span.extracting(line.range))
        }
    }

    /// Writes the unsorted lines to the spool as a sorted run.
    private mutating func spoolRun() throws(FileError) {
        let spool: SpoolFile
        if let present = self.spool { spool = present } else { spool = try SpoolFile(in: folder) }
        self.spool = spool
        let start = runs.last?.upperBound ?? 0
        var end = start
        var piece: [UInt8] = []
        func flush() throws(FileError) {
            try spool.write(piece.span, at: end)
            end += piece.count
            piece.removeAll(keepingCapacity: true)
        }
        try forEachSortedLine { line, text throws(FileError) in
            for number in [line.rank, Int64(line.keySize), Int64(text.count)] { piece.append(littleEndian: number) }
            piece.append(copying: text)
            if piece.count >= Self.pieceSize { try flush() }
        }
        try flush()
        runs.append(start..<end)
        for lines in unsorted { recycle(lines) }
        unsorted.removeAll()
        unsortedSize = 0
    }

    // MARK: Merging

    /// A run that is read line by line.
    private struct RunReader {
        /// The number of bytes before each key and line: the rank, the length of the key, and the length of both.
        static let headerSize = 24

        private let spool: SpoolFile
        private let bufferSize: Int
        /// The range of the bytes that have not been read.
        private var unread: Range<Int>
        private var buffer: [UInt8] = []
        /// The rank of the current line.
        private(set) var rank: Int64 = 0
        private var keySize = 0
        /// The range of the current key and line in the buffer.
        private var range = 0..<0

        init(_ run: Range<Int>, of spool: SpoolFile, bufferSize: Int) {
            self.spool = spool
            self.bufferSize = bufferSize
            unread = run
        }

        /// The key of the current line.
        var key: ArraySlice<UInt8> { buffer[range].prefix(keySize) }
        /// The current line.
        var line: ArraySlice<UInt8> { buffer[range].dropFirst(keySize) }

        /// Reads the next line, and returns whether there is one.
        mutating func advance() throws(FileError) -> Bool {
            var start = range.upperBound
            try load(Self.headerSize, from: &start)
            guard buffer.count - start >= Self.headerSize else { return false }
            let count = Int(truncatingIfNeeded: buffer.span.word(at: start + 16))
            keySize = Int(truncatingIfNeeded: buffer.span.word(at: start + 8))
            rank = Int64(bitPattern: buffer.span.word(at: start))
            try load(Self.headerSize + count, from: &start)
            range = start + Self.headerSize..<start + Self.headerSize + count
            return true
        }

        /// Reads bytes, so that the buffer contains `count` bytes from the index `start` on, unless the run ends before.
        ///
        /// The bytes before `start` are removed.
        private mutating func load(_ count: Int, from start: inout Int) throws(FileError) {
            guard buffer.count - start < count, !unread.isEmpty else { return }
            buffer.removeFirst(start)
            start = 0
            let added = min(max(bufferSize, count) - buffer.count, unread.count)
            let offset = unread.lowerBound
            let length = buffer.count
            try buffer.append(addingCapacity: added) { output throws(FileError) in
                try spool.read(at: offset, upTo: added, into: &output)
            }
            guard buffer.count == length + added else { throw FileError(.spool, spool.folder, code: EIO) }
            unread = offset + added..<unread.upperBound
        }
    }

    /// Calls `body` with the lines of all runs in order.
    private func forEachMergedLine(_ body: (Span<UInt8>) throws -> Void) throws {
        guard let spool else { return }
        let bufferSize = max(Self.minReadingSize, Self.readingSize / runs.count)
        var readers = runs.map { RunReader($0, of: spool, bufferSize: bufferSize) }
        // A binary heap of the indices of readers, in the order of their current lines.
        var heap: [Int] = []
        for index in readers.indices where try readers[index].advance() { heap.append(index) }
        func precedes(_ left: Int, _ right: Int) -> Bool {
            if readers[left].rank != readers[right].rank { return readers[left].rank < readers[right].rank }
            let (leftKey, rightKey) = (readers[left].key, readers[right].key)
            let order = leftKey.span.ordered(against: rightKey.span)
            return order == 0 ? left < right : order < 0
        }
        heap.sort(by: precedes)
        while let first = heap.first {
            do {
                let line = readers[first].line
                try body(line.span)
            }
            if try !readers[first].advance() {
                heap[0] = heap[heap.count - 1]
                heap.removeLast()
            }
            var parent = 0
            while true {
                var child = 2 * parent + 1
                guard child < heap.count else { break }
                if child + 1 < heap.count, precedes(heap[child + 1], heap[child]) { child += 1 }
                guard precedes(heap[child], heap[parent]) else { break }
                heap.swapAt(child, parent)
                parent = child
            }
        }
    }
}
