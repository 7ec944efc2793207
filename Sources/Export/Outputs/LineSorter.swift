import Bytes
import Files
import Glibc
import JSONText

/// Lines with the times by which they are sorted.
struct TimedLines: Sendable {
    /// The time and the position of a line.
    struct Line: Sendable {
        /// The time in milliseconds since 1970.
        let time: Int64
        /// The range of the line, including its line feed, in the text.
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

    /// Appends the line that `body` writes.
    mutating func append(at time: Int64, _ body: (inout TextBuffer) -> Void) {
        let start = text.count
        body(&text)
        lines.append(Line(time: time, range: start..<text.count))
    }
}

/// A sorter of lines by time, which keeps lines with equal times in the order in which they were added.
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
    private let recycle: (TimedLines) -> Void
    private var unsorted: [TimedLines] = []
    /// The size of the memory for the unsorted lines, in bytes.
    private var unsortedSize = 0
    private var spool: SpoolFile?
    /// The ranges of the sorted runs in the spool.
    private var runs: [Range<Int>] = []

    /// Creates a sorter whose spool is on the disk of `folder`.
    ///
    /// Lines that need at most `memoryLimit` bytes of memory are sorted at a time. `recycle` is called with lines that are
    /// no longer needed, so that their memory can be reused.
    init(folder: String, memoryLimit: Int = 32 << 20, recycle: @escaping (TimedLines) -> Void = { _ in }) {
        self.folder = folder
        self.memoryLimit = memoryLimit
        self.recycle = recycle
    }

    mutating func add(_ lines: TimedLines) throws(FileError) {
        if !unsorted.isEmpty, unsortedSize + lines.text.capacity > memoryLimit { try spoolRun() }
        unsorted.append(lines)
        unsortedSize += lines.text.capacity
    }

    /// Passes all lines to `write` in order.
    mutating func finish(_ write: (Span<UInt8>) throws -> Void) throws {
        var piece: [UInt8] = []
        func append(_ line: Span<UInt8>) throws {
            piece.append(copying: line)
            guard piece.count >= Self.pieceSize else { return }
            try write(piece.span)
            piece.removeAll(keepingCapacity: true)
        }
        if runs.isEmpty {
            try forEachSortedLine { _, line in try append(line) }
        } else {
            try spoolRun()
            try forEachMergedLine(append)
        }
        try write(piece.span)
    }

    // MARK: Sorting

    /// The position of a line in the unsorted lines.
    private struct Position {
        let time: Int64
        let part: UInt32
        let line: UInt32

        static func < (left: Position, right: Position) -> Bool {
            (left.time, left.part, left.line) < (right.time, right.part, right.line)
        }
    }

    private func forEachSortedLine<Failure: Error>(
        _ body: (Int64, Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var positions: [Position] = []
        positions.reserveCapacity(unsorted.reduce(0) { $0 + $1.lines.count })
        for (part, lines) in unsorted.enumerated() {
            for (index, line) in lines.lines.enumerated() {
                positions.append(Position(time: line.time, part: UInt32(part), line: UInt32(index)))
            }
        }
        positions.sort(by: <)
        for position in positions {
            let lines = unsorted[Int(position.part)]
            try body(position.time, lines.text.span.extracting(lines.lines[Int(position.line)].range))
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
        try forEachSortedLine { time, line throws(FileError) in
            piece.append(littleEndian: time)
            piece.append(littleEndian: Int64(line.count))
            piece.append(copying: line)
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
        /// The number of bytes before each line: its time and its length.
        static let headerSize = 16

        private let spool: SpoolFile
        private let bufferSize: Int
        /// The range of the bytes that have not been read.
        private var unread: Range<Int>
        private var buffer: [UInt8] = []
        /// The time of the current line.
        private(set) var time: Int64 = 0
        /// The range of the current line in the buffer.
        private var range = 0..<0

        init(_ run: Range<Int>, of spool: SpoolFile, bufferSize: Int) {
            self.spool = spool
            self.bufferSize = bufferSize
            unread = run
        }

        /// The current line.
        var line: ArraySlice<UInt8> { buffer[range] }

        /// Reads the next line, and returns whether there is one.
        mutating func advance() throws(FileError) -> Bool {
            var start = range.upperBound
            try load(Self.headerSize, from: &start)
            guard buffer.count - start >= Self.headerSize else { return false }
            let count = Int(truncatingIfNeeded: buffer.span.word(at: start + 8))
            time = Int64(bitPattern: buffer.span.word(at: start))
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
        func precedes(_ left: Int, _ right: Int) -> Bool { (readers[left].time, left) < (readers[right].time, right) }
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
