import Files
import Mozilla
import TestSupport
import Testing

@testable import Bundle

/// Tests of segments that consist of several frames.
@Suite struct SplitSegmentTests {
    private static let contents = SampleContainer.text(lines: 8000)

    /// Returns a container with a member of lines between two other members.
    private static func container(_ contents: [UInt8] = contents, level: Int = 3) throws -> [UInt8] {
        var encoder = try FrameEncoder(level: level)
        var writer = ContainerWriter()
        var bytes: [UInt8] = []
        let sink: (Span<UInt8>) -> Void = { bytes.append(copying: $0) }
        var lines = MemberBuffer()
        lines.append(contents[...])
        try writer.append(try encoder.compressMember(named: "first", contents: [1].span), to: sink)
        try writer.append(try encoder.compressMember(named: "records/000001.ndjson", ofLines: &lines), to: sink)
        try writer.append(try encoder.compressMember(named: "last", contents: [2].span), to: sink)
        try writer.finish(end: try encoder.compressArchiveEnd(), to: sink)
        return bytes
    }

    private static func entries(_ bytes: [UInt8]) throws -> [(offset: Int, entry: SeekTable.Entry)] {
        var offset = 0
        return try SeekTable.read(from: ByteSource(bytes)).entries.map { entry in
            defer { offset += Int(entry.compressedSize) }
            return (offset, entry)
        }
    }

    @Test("A member has at most seven frames of whole lines and similar size", arguments: [1, 19])
    func frames(level: Int) throws {
        for (lines, count) in [(1, 1), (1500, 1), (3000, 2), (8000, 5), (100_000, 7)] {
            var encoder = try FrameEncoder(level: level)
            var bytes = MemberBuffer()
            bytes.append(SampleContainer.text(lines: lines)[...])
            let member = try encoder.compressMember(named: "a", ofLines: &bytes)
            #expect(member.frames.count == count, "\(lines) lines")
            let sizes = member.frames.map(\.contentSize)
            #expect(sizes.reduce(0, +) == 512 + (bytes.count + 511) / 512 * 512)
            #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) < 700)
            var decoder = try FrameDecoder()
            for frame in member.frames.dropLast() {
                try decoder.start(ByteSource(frame.bytes), at: 0, end: frame.bytes.count, contentLimit: Int.max)
                var last: UInt8?
                while try decoder.advance() { last = decoder.chunk[decoder.chunk.count - 1] }
                #expect(last == UInt8(ascii: "\n"))
            }
        }
    }

    @Test("A line that is longer than a frame is not split")
    func longLines() throws {
        let long = [UInt8](repeating: 0x78, count: 300_000) + [10]
        for lines in [long, [0x78, 10] + long, long + [0x78, 10], long + long, Array(long.dropLast())] {
            let bytes = try Self.container(lines)
            #expect(try SampleContainer.read(bytes)["records/000001.ndjson"] == lines)
            #expect(try SampleContainer.salvage(bytes).contents["records/000001.ndjson"] == lines)
        }
    }

    @Test("A member of several frames can be read with and without its header")
    func reading() throws {
        let bytes = try Self.container()
        let reader = try ContainerReader(ByteSource(bytes))
        #expect(reader.members.map(\.frameIndices.count) == [1, 5, 1])
        #expect(try SampleContainer.read(bytes)["records/000001.ndjson"] == Self.contents)
        let ends = try ContainerReader.openingFirstAndLastMember(of: ByteSource(bytes))
        #expect(ends.members == [reader.members[0], reader.members[2]])
        let list = reader.members.map { (name: $0.name, size: $0.size) }
        #expect(try ends.withMembers(list).members == reader.members)
        for wrong in [Array(list.dropLast()), list + list.suffix(1), [list[0], ("a", list[1].size - 512), list[2]]] {
            #expect(throws: ContainerError.self) { try ends.withMembers(wrong) }
        }
    }

    @Test("Other programs can read the container")
    func otherPrograms() throws {
        let file = try TemporaryFile(try Self.container())
        try tool("zstd", "-q", "-t", file.path)
        for command in [["tar", "--zstd", "-xOf"], ["bsdtar", "-xOf"]] {
            #expect(Array(try TestSupport.tool(command + [file.path, "records/000001.ndjson"])) == Self.contents)
        }
    }

    @Test("Damage to a frame leaves the lines of the others readable")
    func damage() throws {
        let bytes = try Self.container()
        let frames = try Self.entries(bytes)[1...5]
        let lines = Set(Self.contents.split(separator: 10))
        for (number, frame) in frames.enumerated() {
            var damaged = bytes
            let middle = frame.offset + Int(frame.entry.compressedSize) / 2
            for index in middle..<middle + 4 { damaged[index] ^= 0xff }
            #expect(throws: ContainerError.self) { try SampleContainer.read(damaged) }
            let found = try SampleContainer.salvage(damaged)
            #expect(found.members.map(\.name) == ["first", "last"])
            #expect(found.gaps == [frame.offset..<frame.offset + Int(frame.entry.compressedSize)])
            let proven = found.parts.filter(\.isVerified).flatMap {
                $0.contents.filter { $0 != 0 }.split(separator: 10)
            }
            #expect(lines.isSuperset(of: proven))
            #expect(Set(proven).count > lines.count * 3 / 4, "frame \(number)")
            #expect(found.parts.contains { $0.name == nil } == (number < 4))
            #expect(number == 0 || found.parts.contains { $0.name == "records/000001.ndjson" && $0.isVerified })
        }
    }

    @Test("The frames before the end of a truncated container are read")
    func cuts() throws {
        let bytes = try Self.container()
        let frames = try Self.entries(bytes)
        for number in 2...5 {
            for count in [frames[number].offset, frames[number].offset + 7] {
                let found = try SampleContainer.salvage(Array(bytes.prefix(count)))
                let proven = found.parts.filter(\.isVerified)
                #expect(proven.map(\.name) == ["records/000001.ndjson"])
                #expect(Self.contents.starts(with: proven[0].contents))
                #expect(proven[0].contents.count > (number - 1) * 60_000)
                #expect(found.parts.count == 1)
            }
        }
    }

    @Test("The blocks before damage in a single frame are read but unverified")
    func oldMember() throws {
        let bytes = try SampleContainer.container([("records/000001.ndjson", Self.contents)])
        let frame = try Self.entries(bytes)[0].entry
        var damaged = bytes
        let place = Int(frame.compressedSize) * 3 / 4
        for index in place..<place + 4 { damaged[index] ^= 0xff }
        let found = try SampleContainer.salvage(damaged)
        #expect(found.members == [])
        let part = try #require(found.parts.first)
        #expect(found.parts.count == 1)
        #expect(!part.isVerified)
        #expect(part.contents.count > Self.contents.count / 4)
        let whole = part.contents.split(separator: 10).dropLast()
        let lines = Self.contents.split(separator: 10)
        #expect(Set(whole).intersection(lines).count > lines.count / 4)
    }

    @Test("Frames that do not add up to their members are rejected")
    func hostile() throws {
        let bytes = try Self.container()
        let entries = try Self.entries(bytes)
        func container(_ numbers: [Int]) -> [UInt8] {
            numbers.flatMap { number in
                let (offset, entry) = entries[number]
                return bytes[offset..<offset + Int(entry.compressedSize)]
            } + SeekTable(numbers.map { entries[$0].entry }).encoded()
        }
        #expect(try SampleContainer.read(container([0, 1, 2, 3, 4, 5, 6, 7])).count == 3)
        for numbers in [
            [0, 1, 2, 3, 4, 6, 7], [0, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 5, 6, 7], [0, 1, 1, 2, 3, 4, 5, 6, 7],
            [0, 1, 7], [0, 1, 2, 3, 4, 5],
        ] {
            #expect(throws: ContainerError.self, "\(numbers)") { try SampleContainer.read(container(numbers)) }
            // Verified parts contain only lines of the member.
            for part in try SampleContainer.salvage(container(numbers)).parts where part.isVerified {
                #expect(part.contents.count <= Self.contents.count + 512)
            }
        }
    }

    @Test("The version of the manifest states that segments are split")
    func manifestVersion() async throws {
        let bundle = try await SampleBundle.pack((0..<900).map { SampleBundle.record($0) })
        #expect(bundle.manifest.hasSplitSegments == true)
        #expect(try await SampleBundle.verify(bundle.bytes) == bundle.manifest.digest)
        let members = try SampleBundle.members(bundle.bytes)
        #expect(String(decoding: members[members.count - 1].contents, as: UTF8.self).hasSuffix("\"version\":3}\n"))
        // A container with the same members, each in one frame, does not match the version.
        #expect(throws: BundleError.self) { try BundleReader(bytes: SampleContainer.container(members)) }
        let small = try await SampleBundle.pack([SampleBundle.record(1)])
        #expect(small.manifest.hasSplitSegments == false)
        for jobs in [1, 5] {
            let again = try await SampleBundle.pack((0..<900).map { SampleBundle.record($0) }, jobs: jobs)
            #expect(again.bytes == bundle.bytes)
        }
    }
}
