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
        // Two records do not fit in one segment.
        for number in 0..<Self.count {
            let ping = try String(contentsOfFile: Self.ping, encoding: .utf8)
                .replacing("6959B896", with: "6959B89\(number)")
                .replacing("iPhone11,8", with: String(repeating: "x", count: 140_000))
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

    /// Converts a bundle or several inputs, and returns the hash of each line.
    private static func convert(_ arguments: String...) throws -> FinishedProgram { try convert(arguments) }

    private static func convert(_ arguments: [String]) throws -> FinishedProgram {
        let hashes = "import hashlib, sys\nfor line in sys.stdin.buffer: print(hashlib.sha256(line).hexdigest())"
        let script = #""$0" convert -o - "${@:2}" | python3 -c "$1"; exit ${PIPESTATUS[0]}"#
        return try shell(script, [hashes] + arguments)
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
        #expect(finished.errorLines.last?.hasSuffix("records/000002.ndjson is missing; records lost: 1") == true)
    }

    @Test("Four damaged bytes cost at most 256 KiB of records")
    func smallBundle() throws {
        let ping = try String(contentsOfFile: Self.ping, encoding: .utf8)
        for number in 1000..<2000 {
            try folder.put(
                ping.replacing("6959B896", with: "6959\(number)"),
                "small/Documents/MozTelemetry-Default-core/-t-158315\(number).5.json")
        }
        let small = folder("small.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", small, folder("small")).status == 0)
        let original = try pingferry("convert", "-q", "-o", "-", small).lines
        try #require(original.count == 1000)
        let list = try pingferry("list", "--json", small).json()
        #expect((list["segments"] as? [[String: Any]])?.count == 4)
        let sizes = try #require(list["members"] as? [[String: Any]]).compactMap { $0["compressed"] as? Int }
        let whole = try folder.data("small.tar.zst")
        for part in 1...3 {
            var damaged = whole
            // The frame of the second segment follows the marker and the first segment.
            let start = sizes[0] + sizes[1] + sizes[2] * part / 4
            for index in start..<start + 4 { damaged[index] ^= 0xFF }
            try damaged.write(to: URL(fileURLWithPath: folder("damaged.tar.zst")))
            let finished = try pingferry("convert", "-q", "--salvage", "-o", "-", folder("damaged.tar.zst"))
            #expect(finished.status == 1)
            let lost = Set(original).subtracting(finished.lines)
            #expect(lost.reduce(0) { $0 + $1.utf8.count + 1 } <= 256 << 10)
            // The other lines of the damaged segment can be altered.
            let unproven = Set(finished.lines).subtracting(original)
            #expect(unproven.allSatisfy { $0.contains(#""unproven"]"#) }, "\(finished.errors)")
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

    @Test(
        "A bundle that another program packed again is named, and its files can be converted",
        arguments: [
            #"zstd -dcq "$1" | zstd -q > "$3""#, #"zstd -dcq "$1" | zstd -q --no-check > "$3""#,
            #"tar --zstd -cf "$3" -C "$2" ."#, #"bsdtar --zstd -cf "$3" -C "$2" ."#,
            #"tar --zstd -cf "$3" -C "$2/.." unpacked"#,
        ])
    func repackedBundle(script: String) throws {
        try folder.makeFolder("unpacked")
        try tool("tar", "--zstd", "-xf", folder("a.tar.zst"), "-C", folder("unpacked"))
        let packed = folder("again.tar.zst")
        #expect(try shell(script, [folder("a.tar.zst"), folder("unpacked"), packed]).status == 0)
        let finished = try pingferry("convert", "--salvage", "-o", folder("out"), packed)
        #expect(finished.status == 65)
        #expect(
            finished.errorLines == [
                "pingferry: \(packed): byte 0: a bundle that another program packed again",
                "hint: unpack it with tar, and convert the files in its folder records",
            ])
        for command in [["convert", "-o", folder("out")], ["verify"], ["list"], ["scan"]] {
            let other = try RunningProgram([pingferryPath] + command + [packed]).finish()
            #expect(other.status == 65, "\(command)")
        }
        #expect(!folder.names.contains("out"))
        // The remedy restores the records.
        try folder.makeFolder("restored")
        try tool("tar", "--zstd", "-xf", packed, "-C", folder("restored"))
        let segments = try tool("find", folder("restored"), "-path", "*/records/*.ndjson").split(separator: "\n")
        #expect(try Self.convert(segments.sorted().map(String.init)).lines == lines)
    }

    @Test func hintSuggestsSalvage() throws {
        try bytes.dropLast().write(to: URL(fileURLWithPath: folder("cut.tar.zst")))
        let finished = try pingferry("convert", "-o", folder("out"), folder("cut.tar.zst"))
        #expect(finished.status == 65)
        #expect(finished.errorLines.last?.hasSuffix("read what is left of this one with convert --salvage") == true)
        #expect(!folder.names.contains("out"))
    }
}
