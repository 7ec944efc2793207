import Telemetry

/// The physical type of stored values.
///
/// The raw values of all enumerations in this file are defined in `parquet.thrift`.
enum ParquetType: Int {
    case boolean = 0
    case int64 = 2
    case double = 5
    case byteArray = 6

    init(_ kind: TableColumn.Kind) {
        self =
            switch kind {
            case .flag: .boolean
            case .integer, .time: .int64
            case .real: .double
            case .text, .json: .byteArray
            }
    }
}

/// The encoding of the values of a page.
enum ParquetEncoding: Int {
    case plain = 0
    /// Runs and bit-packed groups of definition levels.
    case hybrid = 3
    /// Runs and bit-packed groups of the indices of dictionary entries.
    case dictionaryIndices = 8
}

/// The type of a page.
enum ParquetPageType: Int {
    case data = 0
    case dictionary = 2
}

/// Constants of the Parquet format.
///
/// Source: Parquet, "File format"; `parquet.thrift`.
enum ParquetFormat {
    /// The bytes at the start and at the end of a file.
    static let magic = Array("PAR1".utf8)
    /// The version of the format that introduced the types and encodings that are written.
    static let version = 2
    /// The code of zstd, with which all pages are compressed.
    static let codec = 6
    static let requiredRepetition = 0
    static let optionalRepetition = 1
}

// MARK: - Pages

/// The header of a page.
struct PageHeader {
    let type: ParquetPageType
    /// The number of values, including NULL.
    let valueCount: Int
    let encoding: ParquetEncoding
    /// The size of the page in bytes, without the header.
    let size: Int
    let compressedSize: Int

    var encoded: [UInt8] {
        var writer = ThriftWriter()
        writer.addElement { header in
            header.add(1, int32: type.rawValue)
            header.add(2, int32: size)
            header.add(3, int32: compressedSize)
            switch type {
            case .data:
                header.add(5) { data in
                    data.add(1, int32: valueCount)
                    data.add(2, int32: encoding.rawValue)
                    // The encodings of the definition and repetition levels.
                    data.add(3, int32: ParquetEncoding.hybrid.rawValue)
                    data.add(4, int32: ParquetEncoding.hybrid.rawValue)
                }
            case .dictionary:
                header.add(7) { dictionary in
                    dictionary.add(1, int32: valueCount)
                    dictionary.add(2, int32: encoding.rawValue)
                }
            }
        }
        return writer.bytes
    }
}

// MARK: - Columns of row groups

/// A bound of the values of a column in a row group.
struct ValueBound: Equatable {
    /// The value in plain encoding, without a length.
    let value: [UInt8]
    /// Whether the column contains this value.
    let isExact: Bool
}

/// The statistics of a column in a row group.
struct ColumnStatistics: Equatable {
    var nullCount = 0
    /// The lower bound of the values, or `nil` if there is no value or the bound is unknown.
    var minimum: ValueBound?
    /// The upper bound of the values, or `nil` if there is no value or the bound is unknown.
    var maximum: ValueBound?

    fileprivate func write(to writer: inout ThriftWriter) {
        writer.add(3, int64: nullCount)
        if let maximum { writer.add(5, binary: maximum.value) }
        if let minimum { writer.add(6, binary: minimum.value) }
        if let maximum { writer.add(7, maximum.isExact) }
        if let minimum { writer.add(8, minimum.isExact) }
    }
}

/// The encoded pages of a column in a row group.
struct ColumnChunk {
    /// The pages with their headers.
    var bytes: [UInt8] = []
    /// The size of the pages before compression, in bytes, including the headers.
    var uncompressedSize = 0
    /// The size, in bytes, of the dictionary page, which precedes the data pages, or `nil` if there is no dictionary.
    var dictionarySize: Int?
    var dataPageCount = 0
    /// The number of values, including NULL.
    var valueCount = 0
    var statistics = ColumnStatistics()

    /// Writes the metadata of `column`.
    ///
    /// `offset` is the position of the first page of the column in the file.
    fileprivate func write(_ column: TableColumn, at offset: Int, to writer: inout ThriftWriter) {
        // The deprecated offset of a second copy of the metadata. It is 0, because no copy is written.
        writer.add(2, int64: 0)
        writer.add(3) { metadata in
            let encodings: [ParquetEncoding] = [.plain, .hybrid] + (dictionarySize == nil ? [] : [.dictionaryIndices])
            metadata.add(1, int32: ParquetType(column.kind).rawValue)
            metadata.add(2, listOf: .int32, count: encodings.count) { list in
                for encoding in encodings { list.addElement(int32: encoding.rawValue) }
            }
            metadata.add(3, listOf: .binary, count: 1) { $0.addElement(binary: Array(column.name.utf8)) }
            metadata.add(4, int32: ParquetFormat.codec)
            metadata.add(5, int64: valueCount)
            metadata.add(6, int64: uncompressedSize)
            metadata.add(7, int64: bytes.count)
            metadata.add(9, int64: offset + (dictionarySize ?? 0))
            if dictionarySize != nil { metadata.add(11, int64: offset) }
            metadata.add(12) { statistics.write(to: &$0) }
            metadata.add(13, listOf: .structure, count: dictionarySize == nil ? 1 : 2, writePageCounts)
        }
    }

    /// Writes the number of pages of each type and encoding.
    private func writePageCounts(to list: inout ThriftWriter) {
        func add(_ type: ParquetPageType, _ encoding: ParquetEncoding, count: Int) {
            list.addElement { pages in
                pages.add(1, int32: type.rawValue)
                pages.add(2, int32: encoding.rawValue)
                pages.add(3, int32: count)
            }
        }
        if dictionarySize != nil { add(.dictionary, .plain, count: 1) }
        add(.data, dictionarySize == nil ? .plain : .dictionaryIndices, count: dataPageCount)
    }
}

// MARK: - Files

/// The metadata at the end of a file.
struct ParquetFooter {
    private let table: Table
    private let creator: String
    private var rowCount = 0
    private var rowGroupCount = 0
    /// The encoded metadata of the row groups.
    private var rowGroups = ThriftWriter()

    /// Creates the metadata of an empty file.
    ///
    /// `creator` is the name of the program with its version, such as `pingferry version 1.0`.
    init(_ table: Table, creator: String) {
        self.table = table
        self.creator = creator
    }

    /// Adds a row group that begins at `offset` in the file.
    mutating func add(_ columns: [ColumnChunk], rowCount: Int, at offset: Int) {
        self.rowCount += rowCount
        rowGroupCount += 1
        rowGroups.addElement { group in
            group.add(1, listOf: .structure, count: columns.count) { list in
                var columnOffset = offset
                for (column, chunk) in zip(table.columns, columns) {
                    list.addElement { chunk.write(column, at: columnOffset, to: &$0) }
                    columnOffset += chunk.bytes.count
                }
            }
            group.add(2, int64: columns.reduce(0) { $0 + $1.uncompressedSize })
            group.add(3, int64: rowCount)
            group.add(5, int64: offset)
            group.add(6, int64: columns.reduce(0) { $0 + $1.bytes.count })
        }
    }

    /// The encoded footer: all bytes of the file after the last row group.
    var encoded: [UInt8] {
        var writer = ThriftWriter()
        writer.addElement { file in
            file.add(1, int32: ParquetFormat.version)
            file.add(2, listOf: .structure, count: table.columns.count + 1, writeSchema)
            file.add(3, int64: rowCount)
            file.add(4, listOf: .structure, count: rowGroupCount) { $0.addElements(encoded: rowGroups.bytes) }
            let meanings = table.keyedMeanings
            file.add(5, listOf: .structure, count: meanings.count) { list in
                for (key, meaning) in meanings {
                    list.addElement { pair in
                        pair.add(1, string: key)
                        pair.add(2, string: meaning)
                    }
                }
            }
            file.add(6, string: creator)
            file.add(7, listOf: .structure, count: table.columns.count) { list in
                // Each column has the order that its type defines. Without this list, readers ignore the bounds.
                for _ in table.columns { list.addElement { $0.add(1) { _ in } } }
            }
        }
        var bytes = writer.bytes
        bytes.append(littleEndian: UInt32(bytes.count))
        return bytes + ParquetFormat.magic
    }

    private func writeSchema(to list: inout ThriftWriter) {
        list.addElement { root in
            root.add(4, string: table.name)
            root.add(5, int32: table.columns.count)
        }
        for column in table.columns {
            list.addElement { element in
                element.add(1, int32: ParquetType(column.kind).rawValue)
                element.add(
                    3, int32: column.isRequired ? ParquetFormat.requiredRepetition : ParquetFormat.optionalRepetition)
                element.add(4, string: column.name)
                Self.writeLogicalType(of: column.kind, to: &element)
            }
        }
    }

    /// Writes `converted_type`, which old readers require, and `logicalType`.
    private static func writeLogicalType(of kind: TableColumn.Kind, to element: inout ThriftWriter) {
        switch kind {
        case .text:
            element.add(6, int32: 0)
            element.add(10) { type in type.add(1) { _ in } }
        case .json:
            element.add(6, int32: 19)
            element.add(10) { type in type.add(12) { _ in } }
        case .time:
            element.add(6, int32: 10)
            element.add(10) { type in
                type.add(8) { timestamp in
                    // The type has no time zone, so that readers do not convert the times, all of which are in UTC, to the
                    // time zone of a session. The unit is a microsecond.
                    timestamp.add(1, false)
                    timestamp.add(2) { unit in unit.add(2) { _ in } }
                }
            }
        case .integer, .flag, .real: break
        }
    }
}
