import Bytes
import Files
import JSONText
import Telemetry

/// An encoder for a column of a Parquet file that encodes one row group after another.
///
/// Values are collected in a dictionary first. If the dictionary becomes too large, or if few values are repeated, all
/// values of the row group are stored in plain encoding instead. The choice depends only on the values.
///
/// Source: Parquet, "Data Pages", "Encodings".
struct ColumnEncoder {
    /// The size in bytes at which a page of plain values is complete.
    static let pageSize = 1 << 20
    /// The interval, in distinct values, at which the encoder decides whether to keep the dictionary.
    private static let examinationInterval = 4096

    private let column: TableColumn
    private let compressors: ValuePool<ZstdCompressor, ZstdError>
    /// The first error of zstd, or `nil` if zstd has reported no error.
    private var failure: (any Error)?
    /// Whether a cell had a type that the column cannot store.
    private var hasInvalidCell = false

    // MARK: The current row group

    private var chunk = ColumnChunk()
    private var bounds: ValueBounds?
    private var dictionary = ValueDictionary()
    private var isPlain = false
    private var presentCount = 0

    // MARK: The current page, or the row group if it has a dictionary

    private var entries = EntryRuns()
    /// The values of the current page in plain encoding.
    private var page: [UInt8] = []

    init(_ column: TableColumn, compressors: ValuePool<ZstdCompressor, ZstdError>) {
        self.column = column
        self.compressors = compressors
    }
}

/// The indices of the dictionary entries of consecutive rows, as runs of equal indices.
struct EntryRuns {
    /// The index that represents NULL.
    static let null = UInt32.max

    private(set) var runs: [(entry: UInt32, count: Int32)] = []
    /// The number of rows.
    private(set) var count = 0

    mutating func append(_ entry: UInt32) {
        count &+= 1
        let last = runs.count &- 1
        if last >= 0, runs[last].entry == entry {
            runs[last].count &+= 1
        } else {
            runs.append((entry, 1))
        }
    }

    mutating func removeAll() {
        runs.removeAll(keepingCapacity: true)
        count = 0
    }
}

// MARK: - Rows

extension ColumnEncoder {
    /// Appends the values of consecutive rows.
    ///
    /// The cells of the column are at `index`, `index + stride`, `index + 2 * stride`, and so on.
    mutating func append(_ rows: Range<Int>, of cells: [Cell], at index: Int, stride: Int, text: TextBuffer) {
        let slice = ColumnCells(cells: cells, first: index, stride: stride)
        switch column.kind {
        case .integer, .flag, .real, .time: appendNumbers(rows, of: slice, text)
        case .text, .json: appendStrings(rows, of: slice, text)
        }
        chunk.valueCount += rows.count
    }

    private struct ColumnCells {
        let cells: [Cell]
        let first: Int
        let stride: Int

        subscript(row: Int) -> Cell { cells[row &* stride &+ first] }
    }

    private mutating func appendStrings(_ rows: Range<Int>, of cells: ColumnCells, _ text: TextBuffer) {
        // Consecutive rows often share the bytes of a string.
        var previous = (start: -1, count: UInt32(0), entry: EntryRuns.null)
        for row in rows {
            switch cells[row] {
            case .null: appendNull()
            case .text(let start, let count), .real(let start, let count):
                if start == previous.start, count == previous.count, !isPlain {
                    entries.append(previous.entry)
                    presentCount &+= 1
                } else {
                    let end = start &+ Int(count)
                    if !isPlain, let entry = dictionary.index(of: text.span.extracting(start..<end)) {
                        previous = (start, count, entry)
                        appendEntry(entry)
                    } else {
                        usePlainEncoding()
                        appendPlain(text[start..<end])
                    }
                }
            case .integer: hasInvalidCell = true
            }
        }
    }

    private mutating func appendNumbers(_ rows: Range<Int>, of cells: ColumnCells, _ text: TextBuffer) {
        var previous = (number: Int64(0), entry: EntryRuns.null)
        var parser = CellParser(isTime: column.kind == .time)
        for row in rows {
            let number: Int64
            switch cells[row] {
            case .integer(let value): number = value
            case .text(let start, let count), .real(let start, let count):
                guard let parsed = parser.number(start, count, text) else {
                    appendNull()
                    continue
                }
                number = parsed
            case .null:
                appendNull()
                continue
            }
            if column.kind == .flag {
                appendFlag(number)
            } else if number == previous.number, previous.entry != EntryRuns.null, !isPlain {
                entries.append(previous.entry)
                presentCount &+= 1
            } else if !isPlain, let entry = dictionary.index(of: number) {
                previous = (number, entry)
                appendEntry(entry)
            } else {
                usePlainEncoding()
                appendPlain(number)
            }
        }
    }

    private mutating func appendNull() {
        entries.append(EntryRuns.null)
        chunk.statistics.nullCount &+= 1
    }

    private mutating func appendFlag(_ number: Int64) {
        include(number)
        entries.append(UInt32(truncatingIfNeeded: number & 1))
    }

    private mutating func appendEntry(_ entry: UInt32) {
        entries.append(entry)
        presentCount &+= 1
        // The dictionary is examined when an entry has been added.
        let count = dictionary.count
        if count & (Self.examinationInterval - 1) == 0, Int(entry) == count &- 1, 4 * count > 3 * presentCount {
            usePlainEncoding()
        }
    }

    private mutating func appendPlain(_ number: Int64) {
        include(number)
        page.append(littleEndian: number)
        endPlainValue()
    }

    private mutating func appendPlain(_ string: ArraySlice<UInt8>) {
        if column.kind != .json { bounds.include(string.span) }
        page.append(littleEndian: UInt32(truncatingIfNeeded: string.count))
        page += string
        endPlainValue()
    }

    private mutating func include(_ number: Int64) {
        bounds.include(column.kind == .real ? ValueBounds.orderedBits(number) : number)
    }

    private mutating func endPlainValue() {
        entries.append(0)
        if page.count >= Self.pageSize { closePlainPage() }
    }
}

/// A parser that converts the strings of cells to integers.
private struct CellParser {
    let isTime: Bool
    private var previous = (start: -1, count: UInt32(0), number: Int64?.none)

    init(isTime: Bool) { self.isTime = isTime }

    /// Returns the microseconds since 1970 of an instant, or the bits of a finite floating-point number.
    ///
    /// Returns `nil` for any other string.
    mutating func number(_ start: Int, _ count: UInt32, _ text: TextBuffer) -> Int64? {
        if start == previous.start, count == previous.count { return previous.number }
        let bytes = start..<start + Int(count)
        let number: Int64?
        if isTime {
            number = Timestamp(rfc3339: text.span.extracting(bytes)).map { $0.milliseconds * 1000 }
        } else {
            let value = Double(String(decoding: text[bytes], as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
            // Negative zero is stored as zero, because SQLite does not store the sign, and the dictionary filter of
            // Spark distinguishes both zeros.
            number = value.map { $0 == 0 ? 0 : Int64(bitPattern: $0.bitPattern) }
        }
        previous = (start, count, number)
        return number
    }
}

// MARK: - Pages

extension ColumnEncoder {
    /// Replaces the dictionary with plain values if the row group still has a dictionary.
    private mutating func usePlainEncoding() {
        guard !isPlain else { return }
        isPlain = true
        let (old, values) = (entries, dictionary)
        entries.removeAll()
        dictionary = ValueDictionary()
        for (entry, count) in old.runs {
            for _ in 0..<count {
                if entry == EntryRuns.null {
                    entries.append(entry)
                } else if ParquetType(column.kind) == .byteArray {
                    let string = values.string(at: Int(entry))
                    if column.kind != .json { bounds.include(string) }
                    page.append(plain: string)
                    endPlainValue()
                } else {
                    appendPlain(values.number(at: Int(entry)))
                }
            }
        }
    }

    private mutating func closePlainPage() {
        let levels = encodedLevels()
        add(.data, .plain, valueCount: entries.count, levels + page)
        entries.removeAll()
        page.removeAll(keepingCapacity: true)
    }

    private mutating func closeFlagPage() {
        var body = encodedLevels()
        var (byte, bitCount) = (UInt8(0), UInt8(0))
        for (entry, count) in entries.runs where entry != EntryRuns.null {
            for _ in 0..<count {
                byte |= UInt8(entry) << bitCount
                bitCount += 1
                if bitCount == 8 {
                    body.append(byte)
                    (byte, bitCount) = (0, 0)
                }
            }
        }
        if bitCount > 0 { body.append(byte) }
        add(.data, .plain, valueCount: entries.count, body)
        entries.removeAll()
    }

    private mutating func closeDictionary() {
        let values = dictionary
        dictionary = ValueDictionary()
        includeInBounds(values)
        add(.dictionary, .plain, valueCount: values.count, values.bytes)
        // Some readers require at least one bit, even if there is only one value.
        let bitWidth = max(1, Int.bitWidth - (values.count - 1).leadingZeroBitCount)
        var encoder = HybridEncoder(bitWidth: bitWidth)
        for (entry, count) in entries.runs where entry != EntryRuns.null { encoder.append(entry, count: Int(count)) }
        add(
            .data, .dictionaryIndices, valueCount: entries.count,
            encodedLevels() + [UInt8(bitWidth)] + encoder.finish())
        entries.removeAll()
    }

    private mutating func includeInBounds(_ values: ValueDictionary) {
        for index in 0..<values.count {
            switch column.kind {
            case .integer, .flag, .real, .time: include(values.number(at: index))
            case .text: bounds.include(values.string(at: index))
            case .json: break
            }
        }
    }

    /// Returns the definition levels of the current page, which are 0 for NULL and 1 for a value.
    private func encodedLevels() -> [UInt8] {
        guard !column.isRequired else { return [] }
        var encoder = HybridEncoder(bitWidth: 1)
        for (entry, count) in entries.runs { encoder.append(entry == EntryRuns.null ? 0 : 1, count: Int(count)) }
        let levels = encoder.finish()
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(levels.count))
        return bytes + levels
    }

    private mutating func add(
        _ type: ParquetPageType, _ encoding: ParquetEncoding, valueCount: Int, _ contents: [UInt8]
    ) {
        guard failure == nil else { return }
        do {
            guard contents.count <= Int32.max else { throw ParquetError.tooLarge(column.name) }
            let compressed = try compressors.withPooledValue { compressor throws(ZstdError) in
                try compressor.compressedFrame(of: contents)
            }
            let header = PageHeader(
                type: type, valueCount: valueCount, encoding: encoding, size: contents.count,
                compressedSize: compressed.count
            ).encoded
            chunk.bytes += header
            chunk.bytes += compressed
            chunk.uncompressedSize += header.count + contents.count
        } catch {
            return failure = error
        }
        switch type {
        case .dictionary: chunk.dictionarySize = chunk.bytes.count
        case .data: chunk.dataPageCount += 1
        }
    }

    /// Ends the row group and returns its encoded pages.
    ///
    /// - Throws: `ZstdError`, or ``ParquetError`` if the column cannot store a value.
    mutating func finishRowGroup() throws -> ColumnChunk {
        if column.kind == .flag {
            closeFlagPage()
        } else if !isPlain, dictionary.count > 0, 2 * dictionary.count <= presentCount {
            closeDictionary()
        } else {
            usePlainEncoding()
            if entries.count > 0 { closePlainPage() }
        }
        if let failure { throw failure }
        if hasInvalidCell || column.isRequired && chunk.statistics.nullCount > 0 {
            throw ParquetError.invalidValue(column.name)
        }
        if let (minimum, maximum) = bounds?.bounds(of: column.kind) {
            (chunk.statistics.minimum, chunk.statistics.maximum) = (minimum, maximum)
        }
        let finished = chunk
        chunk = ColumnChunk()
        bounds = nil
        isPlain = false
        presentCount = 0
        return finished
    }
}

/// An error that reports a value that a Parquet file cannot contain.
enum ParquetError: Error, CustomStringConvertible {
    /// A value in the column with this name does not have the type of the column, or is NULL although NULL is not
    /// allowed.
    case invalidValue(String)
    /// A value in the column with this name is larger than 2 GiB.
    case tooLarge(String)

    var description: String {
        switch self {
        case .invalidValue(let column): "the column \(column) contains a value of another type"
        case .tooLarge(let column): "the column \(column) contains a value of more than 2 GiB"
        }
    }
}
