import Foundation
import TestSupport
import Testing

@Suite struct SalvageCommandTests {
    private static let count = 3
    private static let ping =
        "\(sample("focus"))/Documents/MozTelemetry-Default-core/-t-1583154291.7114122.json"
    private let folder: TemporaryFolder
    private let bytes: Data
    private let lines: [String]
    /// The offsets of the frames of the members in the file, and of the frame after the last one.
    private let offsets: [Int]

    init() throws {
        folder = try TemporaryFolder()
        // Each record is long enough to fill a segment.
        for number in 0..<Self.count {
            let ping = try String(contentsOfFile: Self.ping, encoding: .utf8)
                .replacing("6959B896", with: "6959B89\(number)")
                .replacing("iPhone11,8", with: String(repeating: "x", count: 2_200_000))
            try folder.put(ping, "phone/Documents/MozTelemetry-Default-core/-t-158315429\(number).5.json")
        }
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), folder("phone")).status == 0)
        bytes = try folder.data("a.tar.zst")
        lines = try Self.convert(folder("a.tar.zst")).lines
        try #require(lines.count == Self.count)
        let members = try pingferry("list", "--json", folder("a.tar.zst")).json()["members"] as? [[String: Any]]
        offsets = try #require(members).reduce(into: [0]) {
            $0.append($0[$0.count - 1] + ($1["compressed"] as? Int ?? 0))
        }
        // The marker, the segments, the details and the manifest.
        try #require(offsets.count == Self.count + 6)
    }

    private func salvage(_ bytes: Data) throws -> FinishedProgram {
        try bytes.write(to: URL(fileURLWithPath: folder("damaged.tar.zst")))
        #expect(try pingferry("verify", folder("damaged.tar.zst")).status == 65)
        return try Self.convert(folder("damaged.tar.zst"), "--salvage")
    }

    /// Converts a bundle, and returns the hash of each line.
    private static func convert(_ bundle: String, _ options: String...) throws -> FinishedProgram {
        let hashes = "import hashlib, sys\nfor line in sys.stdin.buffer: print(hashlib.sha256(line).hexdigest())"
        let script = #""$0" convert -o - "${@:2}" | python3 -c "$1"; exit ${PIPESTATUS[0]}"#
        return try shell(script, [hashes, bundle] + options)
    }

    @Test func intactBundleIsReadCompletely() throws {
        let finished = try Self.convert(folder("a.tar.zst"), "--salvage")
        #expect(finished.status == 0)
        #expect(finished.lines == lines)
    }

    @Test func onlyRecordsOfDamagedSegmentAreLost() throws {
        var damaged = bytes
        damaged[(offsets[2] + offsets[3]) / 2] ^= 0xFF
        let finished = try salvage(damaged)
        #expect(finished.status == 1)
        #expect(finished.lines == [lines[0], lines[2]])
        #expect(finished.errors.contains(": byte \(offsets[2]): damaged zstd frame ("))
        #expect(finished.errorLines.last?.hasSuffix("records/000002.ndjson is incomplete; records lost: 1") == true)
    }

    @Test("Records that are lost because of four damaged bytes are counted")
    func smallBundle() throws {
        let ping = try String(contentsOfFile: Self.ping, encoding: .utf8)
        for number in 100..<238 {
            try folder.put(
                ping.replacing("6959B896", with: "69590\(number)"),
                "small/Documents/MozTelemetry-Default-core/-t-1583154\(number).5.json")
        }
        let small = folder("small.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", small, folder("small")).status == 0)
        let original = Set(try pingferry("convert", "-q", "-o", "-", small).lines)
        try #require(original.count == 138)
        let whole = try folder.data("small.tar.zst")
        for share in [4, 6] {
            var damaged = whole
            for index in 0..<4 { damaged[whole.count * share / 10 + index] ^= 0xFF }
            let finished = try salvage(damaged)
            #expect(finished.status == 1)
            #expect(finished.lines.count > 60 && finished.lines.count < 138, "\(finished.errors)")
            // If many lines of a damaged frame cannot be parsed, the total may not be shown.
            let lost = "records/000001.ndjson is incomplete; records lost: \(138 - finished.lines.count)"
            #expect(finished.errors.contains(lost) || finished.errors.contains(" more"), "\(finished.errors)")
        }
    }

    @Test func missingSegmentIsReported() throws {
        let finished = try salvage(bytes.prefix(offsets[2]) + bytes.suffix(from: offsets[3]))
        #expect(finished.status == 1)
        #expect(
            finished.errors.contains("records/000002.ndjson is missing; records lost: 1"))
    }

    @Test func damagedStartLosesNoRecords() throws {
        var damaged = bytes
        damaged[0] ^= 1
        let finished = try salvage(damaged)
        #expect(finished.status == 1)
        #expect(finished.lines == lines)
    }

    @Test func damagedSeekTableLosesNoRecords() throws {
        var damaged = bytes
        damaged[bytes.count - 1] ^= 1
        #expect(try salvage(damaged).lines == lines)
    }

    @Test func truncatedBundleIsReadToItsEnd() throws {
        let finished = try salvage(bytes.prefix((offsets[2] + offsets[3]) / 2))
        #expect(finished.status == 1)
        #expect(finished.lines == [lines[0]])
        #expect(
            finished.errorLines.last?.hasSuffix("the end of the bundle is missing; records may be lost there") == true)
    }

    /// Returns whether a record is held as unproven.
    private static func isUnproven(_ line: String) -> Bool {
        line.contains(#""unproven"]"#) && line.contains(#""notes":["#)
    }

    @Test func alteredRecordsOfRecompressedBundleAreMarked() throws {
        let sample = folder("sample.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", sample, TestSupport.sample("focus")).status == 1)
        let original = Set(try pingferry("convert", "-q", "-o", "-", sample).lines)
        _ = try shell(#"zstd -dcq "$1" | zstd --no-check -q > "$2""#, [sample, folder("no-check.zst")])
        let intact = try pingferry("convert", "-q", "--salvage", "-o", "-", folder("no-check.zst"))
        #expect(Set(intact.lines) == original)
        let packed = try folder.data("no-check.zst")
        var unproven = 0
        for step in 0..<24 {
            var damaged = packed
            damaged[packed.count * step / 24] ^= UInt8(1 << (step % 8))
            try damaged.write(to: URL(fileURLWithPath: folder("flipped.zst")))
            let finished = try pingferry("convert", "-q", "--salvage", "-o", "-", folder("flipped.zst"))
            let (marked, others) = (
                finished.lines.filter(Self.isUnproven), finished.lines.filter { !Self.isUnproven($0) }
            )
            #expect(original.isSuperset(of: others), "byte \(packed.count * step / 24)")
            if !marked.isEmpty || Set(others) != original { #expect([1, 65].contains(finished.status)) }
            unproven += marked.count
        }
        #expect(unproven > 0)
    }

    @Test(arguments: [["tar", "--zstd", "-cf"], ["bsdtar", "--zstd", "-cf"]])
    func manifestVerifiesRepackedBundle(command: [String]) throws {
        try folder.makeFolder("unpacked")
        try tool("tar", "--zstd", "-xf", folder("a.tar.zst"), "-C", folder("unpacked"))
        for (number, members) in [[".", "-C", folder("unpacked")], ["unpacked", "-C", folder.path]].enumerated() {
            let packed = folder("again-\(number).tar.zst")
            try tool(command + [packed, "-C", members[2], members[0]])
            let finished = try Self.convert(packed, "--salvage")
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(Set(finished.lines) == Set(lines))
        }
    }

    @Test func hintSuggestsSalvage() throws {
        try bytes.dropLast().write(to: URL(fileURLWithPath: folder("cut.tar.zst")))
        let finished = try pingferry("convert", "-o", folder("out"), folder("cut.tar.zst"))
        #expect(finished.status == 65)
        #expect(finished.errorLines.last?.hasSuffix("read what is left of this one with convert --salvage") == true)
        #expect(!folder.names.contains("out"))
    }
}
