import Bytes

/// A writer of the b-tree of a table or index, whose entries are added in the order of their keys.
///
/// SQLite executes a program for each row and searches for its place. A tree whose entries are in order is written
/// faster page by page. The tree replaces an empty tree that SQLite has created.
///
/// ```swift
/// var pages = NewPages(after: 2)
/// var tree = TreeWriter(.table)
/// tree.add(cells: cells.span, to: &pages)
/// let root = tree.finish(&pages)
/// ```
///
/// Source: SQLite, "Database File Format", section 1.6.
public struct TreeWriter {
    /// The kind of a tree.
    public enum Kind: UInt8, Sendable {
        /// The rows of a table, with an integer as the key of each row. A cell consists of the size of a record, the key and
        /// the record.
        case table = 0x05
        /// The entries of an index, or the rows of a table without rowid. A cell consists of the size of a record and the
        /// record, which is also the key.
        case index = 0x02
    }

    private let kind: Kind
    /// The pages that are being filled, from the leaf up to the root.
    private var levels: [TreePage]
    private var scratch: [UInt8] = []

    /// Creates a writer of an empty tree.
    public init(_ kind: Kind) {
        self.kind = kind
        levels = [TreePage(kind, isLeaf: true)]
    }

    /// Adds cells, which are stored one after another, with their keys in ascending order.
    public mutating func add(cells: Span<UInt8>, to pages: inout NewPages) {
        var end = 0
        while end < cells.count {
            let start = end
            let size = cells.variableInteger(at: &end)
            if kind == .table { _ = cells.variableInteger(at: &end) }
            let localSize = kind.localSize(of: size)
            end += size
            let local = cells.extracting(start..<end - size + localSize)
            if localSize == size {
                add(local, to: &pages)
            } else {
                let overflow = pages.append(overflow: cells.extracting(end - size + localSize..<end))
                scratch.removeAll(keepingCapacity: true)
                scratch.append(copying: local)
                scratch.append(pageNumber: overflow)
                let cell = scratch
                add(cell.span, to: &pages)
            }
        }
    }

    /// Adds a cell to the leaf, which is written before if the cell does not fit.
    private mutating func add(_ cell: Span<UInt8>, to pages: inout NewPages) {
        guard !levels[0].append(cell) else { return }
        let divider: [UInt8]
        switch kind {
        case .table: divider = levels[0].lastRowID
        case .index: divider = levels[0].removeLast()
        }
        let leaf = pages.append(&levels[0])
        add(child: leaf, before: divider, at: 1, to: &pages)
        _ = levels[0].append(cell)
    }

    /// Adds a pointer to the page `child`, whose keys precede `divider`, to the page of a level.
    private mutating func add(child: UInt32, before divider: [UInt8], at level: Int, to pages: inout NewPages) {
        if level == levels.count { levels.append(TreePage(kind, isLeaf: false)) }
        var cell: [UInt8] = []
        cell.append(pageNumber: child)
        cell += divider
        guard !levels[level].append(cell.span) else { return }
        // A page ends with a pointer without a divider.
        let last = levels[level].removeLast()
        levels[level].setLastChild(last[..<4])
        let full = pages.append(&levels[level])
        add(child: full, before: Array(last[4...]), at: level + 1, to: &pages)
        _ = levels[level].append(cell.span)
    }

    /// Writes the remaining pages, and returns the root page, which replaces that of the empty tree.
    public mutating func finish(_ pages: inout NewPages) -> [UInt8] {
        for level in 0..<levels.count - 1 {
            var child: [UInt8] = []
            child.append(pageNumber: pages.append(&levels[level]))
            levels[level + 1].setLastChild(child[...])
        }
        return levels[levels.count - 1].contents
    }
}

extension TreeWriter.Kind {
    /// Returns the number of bytes of a record of `size` bytes that are stored in its cell.
    ///
    /// Source: SQLite, "Database File Format", section 1.6.
    fileprivate func localSize(of size: Int) -> Int {
        let maximum = self == .table ? NewPages.pageSize - 35 : (NewPages.pageSize - 12) * 64 / 255 - 23
        guard size > maximum else { return size }
        let minimum = (NewPages.pageSize - 12) * 32 / 255 - 23
        let rest = minimum + (size - minimum) % (NewPages.pageSize - 4)
        return rest <= maximum ? rest : minimum
    }
}

/// A page of a b-tree, which is filled with cells from its end.
private struct TreePage {
    private var bytes = [UInt8](repeating: 0, count: NewPages.pageSize)
    private let headerSize: Int
    private var cellCount = 0
    private var contentStart = NewPages.pageSize
    /// The number of bytes of the last cell.
    private var lastSize = 0

    init(_ kind: TreeWriter.Kind, isLeaf: Bool) {
        headerSize = isLeaf ? 8 : 12
        bytes[0] = kind.rawValue | (isLeaf ? 0x08 : 0)
    }

    /// Appends a cell, or returns `false` if it does not fit.
    mutating func append(_ cell: Span<UInt8>) -> Bool {
        // SQLite reserves at least four bytes for a cell.
        let size = max(4, cell.count)
        let pointer = headerSize + 2 * cellCount
        guard size <= contentStart - pointer - 2 else { return false }
        contentStart -= size
        let start = contentStart
        bytes.withUnsafeMutableBytes { page in
            cell.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: page[start...]).copyMemory(from: $0) }
        }
        store(contentStart, at: pointer)
        cellCount += 1
        lastSize = size
        return true
    }

    /// Removes and returns the last cell, which must have been appended after the last call of this method.
    mutating func removeLast() -> [UInt8] {
        let cell = Array(bytes[contentStart..<contentStart + lastSize])
        contentStart += lastSize
        cellCount -= 1
        return cell
    }

    /// The bytes of the key of the last cell of a leaf of a table.
    var lastRowID: [UInt8] {
        let cell = bytes.span.extracting(contentStart..<contentStart + lastSize)
        var start = 0
        _ = cell.variableInteger(at: &start)
        var end = start
        _ = cell.variableInteger(at: &end)
        return cell.extracting(start..<end).copied()
    }

    /// Stores the number of the last child, which is not in a cell.
    mutating func setLastChild(_ number: ArraySlice<UInt8>) { bytes.replaceSubrange(8..<12, with: number) }

    /// The bytes of the page.
    var contents: [UInt8] {
        mutating get {
            store(cellCount, at: 3)
            store(contentStart, at: 5)
            for index in headerSize + 2 * cellCount..<contentStart { bytes[index] = 0 }
            return bytes
        }
    }

    mutating func removeAll() {
        cellCount = 0
        contentStart = NewPages.pageSize
    }

    private mutating func store(_ number: Int, at index: Int) {
        bytes[index] = UInt8(truncatingIfNeeded: number >> 8)
        bytes[index + 1] = UInt8(truncatingIfNeeded: number)
    }
}

/// Pages that are appended to a database file, and have not been written yet.
public struct NewPages {
    /// The size of a page in bytes, which is large so that sequential writing is faster.
    public static let pageSize = 32 << 10
    /// The number of the page that SQLite does not use, because it locks bytes in it.
    private static let lockPage = 1 << 30 / pageSize + 1

    /// The bytes of the pages.
    public private(set) var bytes: [UInt8] = []
    /// The number of pages in the file, including these.
    public private(set) var count: Int

    /// Creates an empty buffer of pages for a file of `count` pages.
    public init(after count: Int) { self.count = count }

    /// The offset of ``bytes`` in the file.
    public var offset: Int { count * Self.pageSize - bytes.count }

    /// The offset of ``header`` in the file.
    public static let headerOffset = 28

    /// The part of the header of the file with the number of pages.
    public var header: [UInt8] {
        var header: [UInt8] = []
        header.append(pageNumber: UInt32(truncatingIfNeeded: count))
        return header
    }

    /// Removes all pages, which have been written.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a page, removes its cells, and returns its number.
    fileprivate mutating func append(_ page: inout TreePage) -> UInt32 {
        let number = beginPage()
        bytes += page.contents
        page.removeAll()
        return number
    }

    /// Appends pages with the end of a record, and returns the number of the first one.
    fileprivate mutating func append(overflow: Span<UInt8>) -> UInt32 {
        var first: UInt32?
        var rest = overflow
        while !rest.isEmpty {
            let number = beginPage()
            first = first ?? number
            let part = rest.extracting(first: Self.pageSize - 4)
            rest = rest.extracting(droppingFirst: part.count)
            bytes.append(pageNumber: rest.isEmpty ? 0 : number + (count + 1 == Self.lockPage ? 2 : 1))
            bytes.append(copying: part)
            bytes.append(contentsOf: repeatElement(0, count: Self.pageSize - 4 - part.count))
        }
        return first ?? 0
    }

    private mutating func beginPage() -> UInt32 {
        count += 1
        if count == Self.lockPage {
            bytes.append(contentsOf: repeatElement(0, count: Self.pageSize))
            count += 1
        }
        return UInt32(truncatingIfNeeded: count)
    }
}

extension [UInt8] {
    fileprivate mutating func append(pageNumber number: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

extension Span<UInt8> {
    /// Returns the integer at `index`, which has one to nine bytes, and advances `index` beyond it.
    fileprivate func variableInteger(at index: inout Int) -> Int {
        var number: UInt64 = 0
        for _ in 0..<8 {
            let byte = self[index]
            index += 1
            number = number << 7 | UInt64(byte & 0x7F)
            guard byte & 0x80 != 0 else { return Int(truncatingIfNeeded: number) }
        }
        number = number << 8 | UInt64(self[index])
        index += 1
        return Int(truncatingIfNeeded: number)
    }
}
