import Files
import TestSupport
import Testing

@testable import Bundle

@Suite struct FrameSalvageTests {
    @Test func allMembersOfIntactContainerAreVerified() throws {
        let found = try SampleContainer.salvage(SampleContainer.container())
        #expect(found.members.map(\.name) == SampleContainer.members.map(\.name))
        #expect(found.contents == SampleContainer.contents)
        #expect(found.members.allSatisfy { $0.isVerified })
        #expect(found.gaps == [])
        #expect(found.hasFoundEnd)
    }

    @Test func damagedMemberIsReportedAsOneGap() throws {
        var bytes = try SampleContainer.container()
        let member = try ContainerReader(ByteSource(bytes)).members[1]
        bytes[member.offset + member.compressedSize / 2] ^= 0x55
        let found = try SampleContainer.salvage(bytes)
        #expect(found.members.map(\.name) == SampleContainer.members.map(\.name).filter { $0 != member.name })
        #expect(found.gaps == [member.offset..<member.offset + member.compressedSize])
        #expect(found.hasFoundEnd)
    }

    @Test func missingEndIsDetected() throws {
        let bytes = try SampleContainer.container()
        let last = try #require(try ContainerReader(ByteSource(bytes)).members.last)
        let found = try SampleContainer.salvage(Array(bytes.prefix(last.offset)))
        #expect(found.gaps == [])
        #expect(!found.hasFoundEnd)
        #expect(found.members.count == SampleContainer.members.count - 1)
    }

    @Test func garbageAroundFramesIsSkipped() throws {
        let garbage = [UInt8](repeating: 0x28, count: 70_000)
        let bytes = try SampleContainer.container()
        let found = try SampleContainer.salvage(garbage + bytes + garbage)
        #expect(found.contents == SampleContainer.contents)
        #expect(found.gaps == [0..<70_000, 70_000 + bytes.count..<140_000 + bytes.count])
    }

    @Test func recompressedTarIsReadFromOneFrame() throws {
        let tar = try unpacked()
        let bytes = try zstd(tar)
        let found = try SampleContainer.salvage(bytes)
        #expect(found.contents == SampleContainer.contents)
        #expect(found.gaps == [])
        #expect(found.hasFoundEnd)
        // Only the last member is still pending when the checksum of the frame is verified.
        #expect(found.members.map(\.isVerified) == [false, false, false, false, false, true])
    }

    @Test func completeMembersOfTruncatedTarAreFound() throws {
        let members = (0..<30).map { ("m\($0)", SampleContainer.text(lines: 3000, seed: UInt64($0))) }
        let bytes = try zstd(try unpacked(members))
        let found = try SampleContainer.salvage(Array(bytes.prefix(bytes.count / 2)))
        #expect(found.members.count > 5 && found.members.count < 25)
        #expect(found.members.map(\.contents) == members.prefix(found.members.count).map(\.1))
        #expect(found.members.allSatisfy { !$0.isVerified })
        #expect(found.gaps == [0..<bytes.count / 2])
    }

    @Test func memberWithoutFrameChecksumIsUnverified() throws {
        var encoder = try FrameEncoder(level: 3)
        let frame = try encoder.compressMember(named: "a", contents: SampleContainer.text(lines: 50).span).frames[0]
            .bytes
        let found = try SampleContainer.salvage(Array(frame.dropLast(2)))
        #expect(found.members.map(\.isVerified) == [false])
        #expect(found.members.map(\.contents) == [SampleContainer.text(lines: 50)])
        #expect(found.gaps == [0..<frame.count - 2])
    }

    @Test func memberBeyondTheLimitIsSkippedAndReported() throws {
        let found = try SampleContainer.salvage(SampleContainer.container(), memberSizeLimit: 512)
        #expect(found.tooLarge == ["records/000000.ndjson"])
        #expect(found.members.count == SampleContainer.members.count - 1)
        #expect(found.gaps == [])
    }

    @Test func manyNestedFramesAreScannedInLinearTime() throws {
        // Each magic number starts a frame that looks valid because of a raw block.
        let start: [UInt8] = FrameDecoder.magic + [0x00, 0x58, 0xf8, 0xff, 0x0f]
        let bytes = [UInt8]((0..<20_000).map { _ in start }.joined())
        let found = try SampleContainer.salvage(bytes)
        #expect(found.members == [])
        #expect(found.gaps == [0..<bytes.count])
    }

    @Test(arguments: [
        ["tar", "--zstd", "-cf", "-"], ["bsdtar", "--zstd", "-cf", "-"], ["tar", "--format=pax", "--zstd", "-cf", "-"],
    ])
    func archivesOfOtherProgramsAreRead(command: [String]) throws {
        let folder = try TemporaryFolder()
        for (name, contents) in SampleContainer.members {
            try folder.put(String(decoding: contents, as: UTF8.self), "unpacked/\(name)")
        }
        let bytes = Array(try TestSupport.tool(command + ["-C", folder.path, "unpacked"]))
        let found = try SampleContainer.salvage(bytes)
        #expect(
            Set(found.members.map(\.name)) == Set(SampleContainer.members.map { "unpacked/\($0.name)" }), "\(command)")
        for (name, contents) in SampleContainer.members {
            #expect(found.contents["unpacked/\(name)"] == contents, "\(name)")
        }
        #expect(found.gaps == [])
        #expect(found.hasFoundEnd)
    }

    @Test(arguments: [
        ("./manifest.json", "manifest.json"), ("a/b/records/000001.ndjson", "records/000001.ndjson"),
        ("x/quarantine/ab", "quarantine/ab"), ("clients.000002.ndjson", "clients.000002.ndjson"),
        ("records/", nil), ("Documents/x.json", nil), ("", nil),
    ])
    func pathsOfUnpackedMembersAreRecognized(path: String, member: String?) {
        #expect(BundleLayout.memberName(atPath: path) == member)
    }

    private func unpacked(
        _ members: [(name: String, contents: [UInt8])] = SampleContainer.members
    ) throws -> [UInt8] {
        try members.reduce(into: []) { tar, member in
            let header = try TarHeader(name: member.name, size: member.contents.count)
            tar += header.encoded() + member.contents + [UInt8](repeating: 0, count: header.padding)
        } + [UInt8](repeating: 0, count: 10_240)
    }
}
