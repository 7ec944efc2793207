import Dispatch
import Files
import Hashing
import JSONText
import Systems
import Telemetry
import TestSupport

@testable import Bundle
@testable import Capture

/// Reads hostile bytes as a bundle or as a part of one.
///
/// The first byte selects the part, because random changes would rarely have correct checksums and hashes.
func fuzzBundle(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let mode = bytes.first else { return 0 }
    let contents = Array(bytes.dropFirst())
    switch mode % 5 {
    case 0: read(contents)
    case 1: read(container(manifest: contents, segment: []))
    case 2: read(container(manifest: Array("{}".utf8), segment: contents))
    case 4:
        var choices = Choices(contents)
        readForged(&choices)
    default: readLines(contents)
    }
    return 0
}

/// Opens a bundle, reads all its contents, and salvages members.
private func read(_ file: [UInt8]) {
    if let reader = try? BundleReader(ByteSource(file), path: "-", knowing: Systems.table) {
        var decoder = FrameDecoder()
        for segment in reader.manifest.segments {
            guard let contents = try? reader.contents(of: segment.path, with: &decoder) else { continue }
            precondition(contents.count == segment.bytes, "the size of the segment differs from the manifest")
        }
    }
    guard var scanner = try? FrameScanner(ByteSource(file), memberSizeLimit: 1 << 16) else { return }
    var end = 0
    while let finding = try? scanner.next() {
        switch finding {
        case .member(let member):
            precondition(member.contents.count <= 1 << 16, "the member exceeds the limit")
            if BundleLayout.isSegment(member.name) { readLines(member.contents) }
        case .gap(let offset, let length, _):
            precondition(offset >= end && length > 0 && offset + length <= file.count, "the gaps overlap")
            end = offset + length
        case .part(let part):
            precondition(part.contents.count <= 1 << 16, "the part exceeds the limit")
            readLines(part.contents)
        case .tooLarge: break
        }
    }
}

/// Checks that an accepted record is written as it was read.
private func readLines(_ contents: [UInt8]) {
    var lines = RecordLines(contents, knowing: Systems.table)
    while true {
        do throws(RecordError) {
            guard let (record, range) = try lines.next() else { return }
            var line: [UInt8] = []
            record.write(to: &line)
            precondition(line == Array(contents[range]), "the record changes when it is written")
        } catch {
            continue
        }
    }
}

/// Returns a valid container with the given manifest and segment.
private func container(manifest: [UInt8], segment: [UInt8]) -> [UInt8] {
    container(of: [
        (BundleLayout.marker, Array("{\"format\":\"pingferry-bundle\",\"version\":1}\n".utf8)),
        (BundleLayout.segmentName(1), segment), (BundleLayout.manifest, manifest),
    ])
}

/// Returns a valid container of the given members.
private func container(of members: [(name: String, contents: [UInt8])]) -> [UInt8] {
    var file: [UInt8] = []
    do {
        let encoder = try FrameEncoder(level: 1)
        var writer = ContainerWriter()
        for (name, contents) in members {
            let member = try encoder.compressMember(named: name, contents: contents.span)
            try writer.append(member) { append($0, to: &file) }
        }
        try writer.finish(end: try encoder.compressArchiveEnd()) { append($0, to: &file) }
    } catch {
        preconditionFailure("the container cannot be created: \(error)")
    }
    return file
}

private func append(_ bytes: Span<UInt8>, to file: inout [UInt8]) {
    for index in bytes.indices { file.append(bytes[index]) }
}

// MARK: - Forged bundles

/// Numbers at and beyond the limits of counts and of integers.
private let hostileNumbers = [
    "0", "1", "2", "4294967296", "9007199254740991", "9007199254740992", "4611686018427387904", "9223372036854775807",
    "9223372036854775808", "-1", "-9223372036854775808", "1e3", "0.5", "null",
]
/// Names of which several are canonically equivalent, or contain the separators of other names.
private let hostileNames = [
    "core", "cor\u{E9}", "core\u{301}", "a/b", "/", "", "\u{212A}", "k", "K", "schema: x", "schema", "\u{301}",
    "a\u{0}b",
]

/// Reads a bundle whose numbers and names are chosen by `choices`, but whose hashes and digest are correct.
///
/// Random changes of a file would not have correct hashes, so that the code behind the hashes would never run.
private func readForged(_ choices: inout Choices) {
    let names = [BundleLayout.segmentName(1), BundleLayout.segmentName(2)].prefix(choices.number(below: 3))
    var members = [(BundleLayout.marker, Array("{\"format\":\"pingferry-bundle\",\"version\":1}\n".utf8))]
    for name in names { members.append((name, forgedRecord(&choices))) }
    members.append((BundleLayout.quarantine, forgedLine(quarantineLine, &choices)))
    members.append((BundleLayout.problems, forgedLine(problemLine, &choices)))
    members.append((BundleLayout.clients, forgedLine(clientLine, &choices)))
    members.append((BundleLayout.manifest, forgedManifest(of: members, &choices)))
    let file = container(of: members)
    var chain = BundleChain()
    var totals = BundleTotals()
    if let reader = try? BundleReader(ByteSource(file), path: "-", knowing: Systems.table) {
        for _ in 0..<2 { chain.append(reader.manifest, named: "-") }
        for _ in 0..<2 { totals.add(reader.manifest.totals) }
        _ = (chain.ends, chain.faults(endingWith: reader.manifest.digest), totals.json, totals.types)
        _ = BundleVerifier(reader, limit: JobLimit(jobs: 1)).byteCount
        readDetails(of: reader)
        verify(reader)
    }
    salvage(file)
}

private func readDetails(of reader: BundleReader) {
    var quarantine = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: reader)
    while let entry = try? quarantine.next() { _ = entry.reject.range(inFileOf: entry.size) }
    var problems = DetailCursor<LocatedProblem>(BundleLayout.problems, of: reader)
    while (try? problems.next()) != nil {}
    var clients = DetailCursor<ClientSummary>(BundleLayout.clients, of: reader)
    while let client = try? clients.next() { precondition(client.recordCount >= 0, "a count is negative") }
}

private func verify(_ reader: BundleReader) {
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
        try? await BundleVerifier(reader, limit: JobLimit(jobs: 1)).verify { _ in }
        isDone.signal()
    }
    isDone.wait()
}

/// Reads the intact parts of a bundle, as `convert --salvage` does.
private func salvage(_ file: [UInt8]) {
    let bundle = SalvagedBundle(ByteSource(file), path: "-", label: "-", systems: Systems.table)
    guard let scan = try? SalvageScan(bundle) else { return }
    var output = ScanOutput(capture: "-")
    while (try? scan.read(into: &output)) == true {}
}

private let quarantineLine =
    #"{"capture":"NAME","length":NUMBER,"offset":NUMBER,"path":"NAME","reason":"P1 x","sha256":"\#(ContentHash(of: []).hex)","#
    + #""size":NUMBER,"store":"mozilla-ping-file","stored":false}"#
private let problemLine = #"{"capture":"NAME","code":"NAME","offset":NUMBER,"path":"NAME","text":"NAME"}"#
private let clientLine =
    #"{"apps":["NAME"],"client":"NAME","first":null,"last":null,"records":NUMBER,"system":"sift","#
    + #""type":{"NAME":NUMBER},"uploadable":NUMBER}"#

/// Returns `template` with each NUMBER and NAME replaced, and with a line feed, or rarely nothing.
private func forgedLine(_ template: String, _ choices: inout Choices) -> [UInt8] {
    guard !choices.isRare() else { return [] }
    return forged(template, &choices) + [UInt8(ascii: "\n")]
}

private func forged(_ template: String, _ choices: inout Choices) -> [UInt8] {
    var output: [UInt8] = []
    var rest = template[...]
    while let first = ["NUMBER", "NAME"].compactMap({ rest.firstRange(of: $0) }).min(by: {
        $0.lowerBound < $1.lowerBound
    }) {
        output += rest[..<first.lowerBound].utf8
        if rest[first] == "NAME" {
            var text: [UInt8] = []
            text.append(jsonString: choices.one(of: hostileNames))
            output += text.dropFirst().dropLast()
        } else {
            output += choices.one(of: hostileNumbers).utf8
        }
        rest = rest[first.upperBound...]
    }
    return output + Array(rest.utf8)
}

/// Returns the line of a record with a forged type, client and hold.
private func forgedRecord(_ choices: inout Choices) -> [UInt8] {
    let source = Source(capture: choices.one(of: hostileNames), path: "x", store: .harEntry, index: 0)
    let record = Record(
        system: .sift, type: choices.one(of: hostileNames), id: choices.one(of: hostileNames),
        client: choices.one(of: hostileNames), app: App(id: choices.one(of: hostileNames)), payload: Array("{}".utf8),
        source: source, held: [Hold(text: choices.one(of: hostileNames)), .noTarget])
    var line: [UInt8] = []
    record.write(to: &line)
    return line
}

/// Returns a manifest with the correct hashes of `members`, and forged numbers and names.
private func forgedManifest(of members: [(name: String, contents: [UInt8])], _ choices: inout Choices) -> [UInt8] {
    let entries = members.map {
        Manifest.Member(path: $0.name, bytes: $0.contents.count, sha256: ContentHash(of: $0.contents))
    }
    func list(_ entries: [Manifest.Member], _ suffix: String) -> String {
        entries.map { entry in
            // The size is mostly correct, because the reader compares it with the container.
            let size = choices.isRare() ? "NUMBER" : "\(entry.bytes)"
            return #"{"bytes":\#(size),"path":"\#(entry.path)"\#(suffix),"sha256":"\#(entry.sha256.hex)"}"#
        }.joined(separator: ",")
    }
    let segments = entries.filter { BundleLayout.isSegment($0.path) }
    let others = entries.filter { !BundleLayout.isSegment($0.path) }
    let ordered = others.prefix(1) + segments + others.dropFirst()
    let text =
        #"{"digest":"\#(Manifest.digest(of: Array(ordered)))","duplicates":NUMBER,"format":"pingferry-bundle","inputs":[],"members":["#
        + list(others, "") + #"],"omitted":{"problems":0,"quarantine":0,"records":0},"parents":[],"segments":["#
        + list(segments, #","records":NUMBER"#)
        + #"],"tool":"NAME","totals":{"held":{"NAME":NUMBER},"records":NUMBER,"system":{"sift":NUMBER},"#
        + #""type":{"sift/NAME":NUMBER,"sift/NAME":NUMBER},"uploadable":NUMBER},"version":1}"#
    return forged(text, &choices) + [UInt8(ascii: "\n")]
}
