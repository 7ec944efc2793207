import Files
import Testing

@testable import Bundle

/// Tests of damaged and malicious containers, which must cause nothing worse than an error.
@Suite struct HostileContainerTests {
    private func frame(_ name: String, _ contents: [UInt8]) throws -> [UInt8] {
        let encoder = try FrameEncoder(level: 3)
        return try encoder.compressMember(named: name, contents: contents.span).frame.bytes
    }

    /// Returns a container of arbitrary frames with a correct seek table.
    private func container(_ frames: [(bytes: [UInt8], contentSize: Int)]) throws -> [UInt8] {
        let encoder = try FrameEncoder(level: 3)
        let end = try encoder.compressArchiveEnd()
        let all = frames + [(end.bytes, end.contentSize)]
        let entries = all.map {
            SeekTable.Entry(
                compressedSize: UInt32($0.bytes.count), contentSize: UInt32($0.contentSize),
                checksum: $0.bytes.littleEndian32(at: $0.bytes.count - 4) ?? 0)
        }
        return all.flatMap(\.bytes) + SeekTable(entries).encoded()
    }

    private func reason(_ bytes: [UInt8]) throws -> FrameError? {
        do {
            _ = try SampleContainer.read(bytes)
            return nil
        } catch let error as ContainerError {
            return error.reason
        }
    }

    @Test func everyFlippedByteIsAnErrorOrChangesNothing() throws {
        let bytes = try SampleContainer.container()
        // Each byte is changed in one of four ways. The fuzzer of bundles covers all others.
        let masks: [UInt8] = [0x01, 0x10, 0x80, 0xff]
        for index in bytes.indices {
            let mask = masks[index % masks.count]
            var flipped = bytes
            flipped[index] ^= mask
            if let contents = try? SampleContainer.read(flipped) {
                #expect(contents == SampleContainer.contents, "byte \(index) ^ \(mask)")
            }
            let found = try SampleContainer.salvage(flipped).contents
            for (name, contents) in found {
                #expect(contents == SampleContainer.contents[name], "byte \(index) ^ \(mask)")
            }
            #expect(found.count >= SampleContainer.members.count - 1, "byte \(index) ^ \(mask)")
        }
    }

    @Test func truncatedContainerIsRejected() throws {
        let bytes = try SampleContainer.container()
        var most = 0
        for count in bytes.indices {
            let cut = Array(bytes.prefix(count))
            #expect(throws: ContainerError.self) { try SampleContainer.read(cut) }
            let found = try SampleContainer.salvage(cut).members
            #expect(found.count >= most)
            most = max(most, found.count)
            #expect(found.map(\.name) == SampleContainer.members.prefix(found.count).map(\.name))
            #expect(found.map(\.contents) == SampleContainer.members.prefix(found.count).map(\.contents))
        }
        #expect(most == SampleContainer.members.count)
    }

    @Test func appendedAndInsertedBytesAreErrors() throws {
        let bytes = try SampleContainer.container()
        #expect(throws: ContainerError.self) { try SampleContainer.read(bytes + [0]) }
        #expect(throws: ContainerError.self) { try SampleContainer.read([0] + bytes) }
        #expect(throws: ContainerError.self) { try SampleContainer.read(bytes + bytes) }
    }

    @Test func randomBytesAreErrors() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var bytes = (0..<Int.random(in: 0..<400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            bytes.replaceSubrange(0..<min(4, bytes.count), with: FrameDecoder.magic.prefix(bytes.count))
            #expect(throws: ContainerError.self) { try SampleContainer.read(bytes) }
            #expect(try SampleContainer.salvage(bytes).members == [])
        }
    }

    @Test func otherFilesAreReportedWithTheirKind() throws {
        #expect(try reason([]) == .notZstd)
        #expect(try reason(Array("PK\u{3}\u{4} a zip file".utf8)) == .notZstd)
        let member = try frame("a", [1])
        #expect(try reason(member) == .noSeekTable)
        let error = ContainerError(at: 9, .noSeekTable)
        #expect(
            error.description
                == "byte 9: no seek table at the end: not a bundle, cut short, or compressed again by another tool"
        )
        #expect(error.remedy != nil)
    }

    @Test func wrongContentSizesAreRejected() throws {
        let member = try frame("a", [1])
        #expect(try reason(container([(member, 1024)])) == nil)
        for size in [0, 512, 1023, 1025, Int(UInt32.max)] {
            #expect(try reason(container([(member, size)])) != nil)
        }
    }

    @Test func twoMembersInOneFrameAreRejected() throws {
        let tar =
            try TarHeader(name: "a", size: 0).encoded() + TarHeader(name: "b", size: 0).encoded()
        let bytes = try container([(try zstd(tar), 1024)])
        #expect(try reason(bytes) == .unexpectedBytes)
        #expect(throws: ContainerError(at: 0, .repacked)) { try SampleContainer.salvage(bytes) }
    }

    @Test func nonzeroPaddingIsRejected() throws {
        var tar = try TarHeader(name: "a", size: 1).encoded() + [UInt8](repeating: 0, count: 512)
        tar[513] = 1
        let bytes = try container([(try zstd(tar), 1024)])
        #expect(try reason(bytes) == .unexpectedBytes)
        #expect(try SampleContainer.salvage(bytes).members == [])
    }

    @Test func twoFramesUnderOneEntryAreRejected() throws {
        let member = try frame("a", [1])
        #expect(try reason(container([(member + member, 1024)])) != nil)
    }

    @Test func missingEndIsRejected() throws {
        let member = try frame("a", [1])
        let entry = SeekTable.Entry(
            compressedSize: UInt32(member.count), contentSize: 1024,
            checksum: try #require(member.littleEndian32(at: member.count - 4)))
        #expect(try reason(member + SeekTable([entry]).encoded()) == .missingArchiveEnd)
    }

    @Test func windowBeyondTheLimitIsRejected() throws {
        // The frame states a window of 2 GiB and contains a raw block.
        let bytes: [UInt8] = FrameDecoder.magic + [0x00, 21 << 3, 0x01, 0, 0]
        var decoder = FrameDecoder()
        try decoder.start(ByteSource(bytes), at: 0, end: bytes.count, contentLimit: 1 << 20)
        #expect(throws: ContainerError.self) { _ = try decoder.advance() }
    }

    @Test func decompressionStopsAtTheLimit() throws {
        let member = try frame("a", [UInt8](repeating: 0, count: 8 << 20))
        #expect(member.count < 2000)
        var decoder = FrameDecoder()
        try decoder.start(ByteSource(member), at: 0, end: member.count, contentLimit: 1 << 20)
        var count = 0
        #expect(throws: ContainerError(at: 0, .overLimit(1 << 20))) {
            while try decoder.advance() { count += decoder.chunk.count }
        }
        #expect(count <= 1 << 20)
    }

    @Test(arguments: [-1, 5, Int.max, Int.min])
    func decoderRejectsInvalidOffsets(offset: Int) throws {
        var decoder = FrameDecoder()
        #expect(throws: ContainerError.self) {
            try decoder.start(ByteSource([1, 2, 3, 4]), at: offset, end: Int.max, contentLimit: 1)
        }
    }
}
