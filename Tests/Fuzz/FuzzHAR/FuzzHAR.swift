import Files
import JSONText
import Systems
import Telemetry
import TestSupport

@testable import Capture

/// Reads hostile bytes as an HTTP archive, compressed or not, and compares what is taken out of it with what another
/// reader finds.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHAR(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    check(RequestLog(ByteSource(bytes), kind: .httpArchive, label: "c", path: "p", systems: Systems.table))
    let whole = elements(of: bytes, pieceSize: max(count, 1))
    precondition(whole == elements(of: bytes, pieceSize: 1), "what is found depends on how the text is cut")
    precondition(whole == elements(of: bytes, pieceSize: 7), "what is found depends on how the text is cut")
    compare(whole, bytes)
    return 0
}

/// What a skimmer took out of a text.
private struct Skimmed: Equatable {
    var texts: [[UInt8]] = []
    var ranges: [Range<Int>] = []
    var isComplete = false
    var error: JSONError?
}

private func elements(of bytes: [UInt8], pieceSize: Int) -> Skimmed {
    var skimmer = JSONSkimmer(
        path: HTTPArchiveReader.path, neighbors: [HTTPArchiveReader.version], outline: .whole, limit: 1 << 20)
    var found = Skimmed()
    do throws(JSONError) {
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + pieceSize, bytes.count)])
            var index = 0
            while let finding = try skimmer.next(in: piece.span, from: &index) {
                guard finding == .element else { continue }
                found.texts.append(skimmer.text)
                found.ranges.append(skimmer.range)
            }
            start += piece.count
        }
    } catch {
        found.error = error
    }
    found.isComplete = skimmer.isComplete
    return found
}

/// Where the text is good JSON without repeated keys, the elements are those that a reader of the whole text finds.
private func compare(_ skimmed: Skimmed, _ bytes: [UInt8]) {
    let policy = JSONReadingPolicy(unpairedSurrogates: .keep)
    guard let document = try? JSONDocument(bytes, policy: policy) else { return }
    precondition(skimmed.error == nil, "good JSON is refused")
    guard let log = document.value(of: "log", in: document.root), let entries = document.value(of: "entries", in: log)
    else { return precondition(skimmed.texts.isEmpty, "elements out of nothing") }
    let elements = document.elements(of: entries)
    precondition(elements.count == skimmed.texts.count, "elements were lost or came twice")
    for (index, element) in elements.enumerated() {
        guard let own = try? JSONDocument(skimmed.texts[index], policy: policy) else {
            preconditionFailure("an element of good JSON is none itself")
        }
        precondition(own.canonicalBytes(of: own.root) == document.canonicalBytes(of: element), "an element changed")
        if document.kind(of: element) == .object {
            precondition(document.sourceRange(of: element) == skimmed.ranges[index], "an element stands elsewhere")
        }
    }
}

/// A record is its line and back, and rejects lie in the text and do not overlap.
private func check(_ log: RequestLog) {
    let scan = RequestLogScan(log, secret: .ofTests)
    var output = ScanOutput(capture: "c")
    var end = 0
    var hasMore = true
    while hasMore {
        hasMore = scan.read(into: &output)
        for record in output.records { check(record) }
        for item in output.quarantined {
            precondition(!item.isStored, "bytes of a log would be carried along")
            guard let offset = item.reject.offset, let length = item.reject.length else { continue }
            precondition(offset >= end && length >= 0, "rejects overlap")
            end = offset + length
        }
        output.removeAll()
    }
}

private func check(_ record: Record) {
    var line: [UInt8] = []
    record.write(to: &line)
    var document = JSONDocument()
    guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table) else {
        preconditionFailure("a record's own line is refused")
    }
    precondition(again == record, "a record changes on its way through a line")
    precondition(record.contradiction(knowing: Systems.table) == nil, "a record contradicts itself")
}
