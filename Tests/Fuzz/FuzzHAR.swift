import Files
import JSONText
import Systems
import Telemetry
import TestSupport

@testable import Capture

/// Reads hostile bytes as an HTTP archive, compressed or not, and compares its elements with those of another reader.
func fuzzHAR(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    check(RequestLog(ByteSource(bytes), kind: .httpArchive, label: "c", path: "p", systems: Systems.table))
    let whole = elements(of: bytes, pieceSize: max(count, 1))
    precondition(whole == elements(of: bytes, pieceSize: 1), "the elements depend on how the text is split")
    precondition(whole == elements(of: bytes, pieceSize: 7), "the elements depend on how the text is split")
    compare(whole, bytes)
    return 0
}

/// The result of extracting elements from a text.
private struct Extraction: Equatable {
    var texts: [[UInt8]] = []
    var ranges: [Range<Int>] = []
    var isComplete = false
    var error: JSONError?
}

private func elements(of bytes: [UInt8], pieceSize: Int) -> Extraction {
    var reader = JSONArrayStreamReader(
        path: HTTPArchiveReader.path, neighbors: [HTTPArchiveReader.version], outline: .whole, limit: 1 << 20)
    var found = Extraction()
    do throws(JSONError) {
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + pieceSize, bytes.count)])
            var index = 0
            while let finding = try reader.next(in: piece.span, from: &index) {
                guard finding == .element else { continue }
                found.texts.append(reader.text)
                found.ranges.append(reader.range)
            }
            start += piece.count
        }
    } catch {
        found.error = error
    }
    found.isComplete = reader.isComplete
    return found
}

/// Checks that the elements of valid JSON without repeated keys are those that a reader of the whole text finds.
private func compare(_ extraction: Extraction, _ bytes: [UInt8]) {
    let policy = JSONReadingPolicy(unpairedSurrogates: .keep)
    guard let document = try? JSONDocument(bytes, policy: policy) else { return }
    precondition(extraction.error == nil, "valid JSON is rejected")
    guard let log = document.value(of: "log", in: document.root), let entries = document.value(of: "entries", in: log)
    else { return precondition(extraction.texts.isEmpty, "there are elements without an array") }
    let elements = document.elements(of: entries)
    precondition(elements.count == extraction.texts.count, "elements are lost or repeated")
    for (index, element) in elements.enumerated() {
        guard let own = try? JSONDocument(extraction.texts[index], policy: policy) else {
            preconditionFailure("the element of valid JSON is malformed")
        }
        precondition(own.canonicalBytes(of: own.root) == document.canonicalBytes(of: element), "the element changed")
        if document.kind(of: element) == .object {
            precondition(
                document.sourceRange(of: element) == extraction.ranges[index], "the range of the element differs")
        }
    }
}

/// Checks that records are unchanged by writing, and that rejects do not overlap.
private func check(_ log: RequestLog) {
    let scan = RequestLogScan(log)
    var output = ScanOutput(capture: "c")
    var end = 0
    var hasMore = true
    while hasMore {
        hasMore = withoutErrors { try output.fill { try scan.read(into: &$0) } }
        for record in output.records { check(record) }
        for item in output.quarantined {
            precondition(!item.isStored, "the bytes of a log are stored")
            guard let offset = item.reject.offset, let length = item.reject.length else { continue }
            precondition(offset >= end && length >= 0, "the rejects overlap")
            end = offset + length
        }
        output.removeAll()
    }
}

private func check(_ record: Record) {
    checkWriting(record)
    precondition(record.contradiction(knowing: Systems.table) == nil, "the record contradicts itself")
}
