import Bundle
import Export
import JSONText
import Systems

/// Reads hostile bytes as a list of sequence numbers, and compares the numbers with no records.
///
/// The first byte selects the size of the pieces in which the list is read.
func fuzzExpectedList(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let pieceSize = bytes.first else { return 0 }
    let text = Array(bytes.dropFirst())
    let list = Reading(text, pieceSize: max(1, text.count))
    precondition(Reading(text, pieceSize: Int(pieceSize) + 1) == list, "the result depends on the pieces")
    if let error = list.error {
        let lineCount = text.count { $0 == UInt8(ascii: "\n") } + 1
        precondition((1...lineCount).contains(error.line), "the list has no such line")
    }
    list.checkRows()
    list.checkRoundTrips()
    list.checkComparison()
    return 0
}

/// The result of reading a list.
private struct Reading: Equatable {
    var rows: [ExpectedNumber] = []
    var error: ExpectedListError?

    init(_ text: [UInt8], pieceSize: Int) {
        var list = ExpectedList(Systems.table)
        do {
            for start in stride(from: 0, to: text.count, by: pieceSize) {
                let piece = Array(text[start..<min(text.count, start + pieceSize)])
                try list.read(piece.span) { rows.append($0) }
            }
            try list.finish { rows.append($0) }
        } catch let error as ExpectedListError {
            self.error = error
        } catch {
            preconditionFailure("unexpected error: \(error)")
        }
        precondition(list.rowCount == rows.count, "the number of rows is wrong")
    }

    func checkRows() {
        for row in rows {
            precondition(row.number >= 0 && !row.client.isEmpty, "an invalid row is accepted")
            precondition(Systems.table[row.system]?.sequence?.isNumbered(row.type) == true, "the type is not numbered")
        }
    }

    /// Checks that the rows are read back unchanged after they are written as CSV and as NDJSON.
    func checkRoundTrips() {
        let csv = rows.map { "\($0.number),\(quoted($0.type)),\(quoted($0.client)),\($0.system)\r\n" }
        check(Array(("seq,type,client,system\r\n" + csv.joined()).utf8))
        var lines: [UInt8] = []
        for row in rows {
            let object: CanonicalObject = [
                "client": row.client, "seq": Int(row.number), "system": row.system.description, "type": row.type,
            ]
            lines += object.bytes + [UInt8(ascii: "\n")]
        }
        // Escapes can make a line of NDJSON longer than the limit.
        if lines.count < 64 << 10 { check(lines) }
    }

    private func quoted(_ field: String) -> String {
        "\"\(field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }

    private func check(_ written: [UInt8]) {
        let again = Reading(written, pieceSize: max(1, written.count))
        precondition(again.error == nil, "the written list is rejected")
        precondition(again.rows == rows, "the rows change when they are written and read")
    }

    /// Checks that all numbers are only in the list, because there are no records.
    func checkComparison() {
        var clients = ClientIndex()
        var sequences = SequenceIndex(Systems.table)
        sequences.compareWithExpectedNumbers()
        for row in rows {
            let client = clients.number(of: row.client, system: row.system)
            sequences.add(expected: row.number, client: client, type: row.type)
        }
        var rowCount = 0
        sequences.forEachSequence(of: clients) { sequence in
            guard let comparison = sequence.comparison else { preconditionFailure("a sequence is not compared") }
            precondition(comparison.commonCount == 0 && comparison.filled.isEmpty, "a record is invented")
            rowCount += comparison.repeatedRowCount
            for numbers in comparison.expectedOnly { rowCount += numbers.sequenceCount }
        }
        precondition(rowCount == rows.count, "the comparison does not contain each row once")
    }
}
