import Files
import TestSupport
import Testing

@testable import Bundle

@Suite struct FrameSalvageTests {
    @Test func allMembersOfIntactContainerAreVerified() throws {
        let found = try SampleContainer.salvage(SampleContainer.container())
        #expect(found.members.map(\.name) == SampleContainer.members.map(\.name))
        #expect(found.contents == SampleContainer.contents)
        #expect(found.gaps == [])
        #expect(found.hasFoundEnd)
    }

    @Test func damagedMemberIsReportedAsOneGap() throws {
        var bytes = try SampleContainer.container()
        let member = try ContainerReader(ByteSource(bytes)).allMembers()[1]
        bytes[member.offset + member.compressedSize / 2] ^= 0x55
        let found = try SampleContainer.salvage(bytes)
        #expect(found.members.map(\.name) == SampleContainer.members.map(\.name).filter { $0 != member.name })
        #expect(found.gaps == [member.offset..<member.offset + member.compressedSize])
        #expect(found.hasFoundEnd)
    }

    @Test func missingEndIsDetected() throws {
        let bytes = try SampleContainer.container()
        let last = try #require(try ContainerReader(ByteSource(bytes)).allMembers().last)
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

    @Test func recompressedContainerIsNamedAsSuch() throws {
        let error = #expect(throws: ContainerError.self) { try SampleContainer.salvage(zstd(unpacked())) }
        #expect(error?.description == "byte 0: a bundle that another program packed again")
        #expect(error?.remedy == "unpack it with tar, and convert the files in its folder records")
    }

    @Test func contentsBeforeDamageAreParts() throws {
        let contents = SampleContainer.text(lines: 20_000)
        let frame = try FrameEncoder(level: 3).compressMember(named: "a", contents: contents.span).frame.bytes
        for count in [frame.count - 2, frame.count * 2 / 3] {
            let found = try SampleContainer.salvage(Array(frame.prefix(count)))
            #expect(found.members == [])
            #expect(found.parts.map(\.name) == ["a"])
            #expect(
                found.parts.allSatisfy { contents.starts(with: $0.contents) && $0.contents.count > contents.count / 3 })
            #expect(found.gaps == [0..<count])
        }
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
    func archivesOfOtherProgramsAreNamedAsSuch(command: [String]) throws {
        let folder = try TemporaryFolder()
        for (name, contents) in SampleContainer.members {
            try folder.put(String(decoding: contents, as: UTF8.self), "unpacked/\(name)")
        }
        let bytes = Array(try TestSupport.tool(command + ["-C", folder.path, "unpacked"]))
        #expect(throws: ContainerError(at: 0, .repacked)) { try SampleContainer.salvage(bytes) }
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
