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
    readFiddlerSession(bytes)
    return 0
}

/// Reads the bytes as each file of a Fiddler session.
private func readFiddlerSession(_ bytes: [UInt8]) {
    guard let spool = try? SpoolFile(in: "/tmp"), (try? spool.write(bytes.span, at: 0)) != nil else { return }
    var builder = SpooledTreeBuilder()
    for suffix in ["c.txt", "s.txt", "m.xml"] {
        guard let path = try? MemberPath(Array("raw/1_\(suffix)".utf8)) else { return }
        builder.addFile(path, .spooled(offset: 0, count: bytes.count))
    }
    let tree = FileTree(Folder(rootOf: builder.finish(name: "fuzz", byteStorage: .spool(spool)).tree))
    guard let archive = try? FiddlerSession(tree: tree, folder: "raw", number: "1").archive() else { return }
    precondition((try? JSONDocument(archive)) != nil, "the converted session is malformed")
    check(RequestLog(ByteSource(archive), kind: .httpArchive, label: "c", path: "p", systems: Systems.table))
}

/// The result of extracting elements from a text.
private struct Extraction: Equatable {
    var texts: [[UInt8]] = []
    var ranges: [Range<Int>] = []
    var elementErrors: [JSONError?] = []
    var isComplete = false
    var error: JSONError?
}

/// Returns the next finding, and continues after invalid elements.
private func next(
    of reader: inout JSONArrayStreamReader, in piece: [UInt8], from index: inout Int
) throws(JSONError) -> JSONArrayStreamReader.Finding? {
    while true {
        do throws(JSONError) {
            return try reader.next(in: piece.span, from: &index)
        } catch {
            guard reader.skipElement(after: error) else { throw error }
        }
    }
}

private func elements(of bytes: [UInt8], pieceSize: Int) -> Extraction {
    var reader = JSONArrayStreamReader(
        path: HTTPArchiveLayout.standard.path, neighbors: [HTTPArchiveReader.version], outline: .whole, limit: 1 << 20)
    var found = Extraction()
    do throws(JSONError) {
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + pieceSize, bytes.count)])
            var index = 0
            while let finding = try next(of: &reader, in: piece, from: &index) {
                guard finding == .element else { continue }
                found.texts.append(reader.elementError == nil ? reader.text : [])
                found.ranges.append(reader.range)
                found.elementErrors.append(reader.elementError)
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
    precondition(
        extraction.error == nil && extraction.elementErrors.allSatisfy { $0 == nil }, "valid JSON is rejected")
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
