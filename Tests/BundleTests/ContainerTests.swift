import Bytes
import Files
import Foundation
import Hashing
import TestSupport
import Testing

@testable import Bundle

@Suite struct ContainerTests {
    @Test(arguments: [1, 3, 19])
    func roundTrip(level: Int) throws {
        let bytes = try SampleContainer.container(level: level)
        #expect(try SampleContainer.read(bytes) == SampleContainer.contents)
        let reader = try ContainerReader(ByteSource(bytes))
        #expect(try reader.allMembers().map(\.name) == SampleContainer.members.map(\.name))
        #expect(try reader.allMembers().map(\.size) == SampleContainer.members.map(\.contents.count))
    }

    @Test func outputIsDeterministic() throws {
        // The output must not depend on earlier members.
        let encoder = try FrameEncoder(level: 3)
        let first = try encoder.compressMember(named: "a", contents: SampleContainer.text(lines: 3000).span)
        _ = try encoder.compressMember(named: "b", contents: SampleContainer.text(lines: 90_000, seed: 5).span)
        let second = try encoder.compressMember(named: "a", contents: SampleContainer.text(lines: 3000).span)
        #expect(first == second)
        #expect(try SampleContainer.container() == SampleContainer.container())
    }

    @Test func encodedMemberHasSizesAndHash() throws {
        let encoder = try FrameEncoder(level: 3)
        let contents = SampleContainer.text(lines: 100)
        let member = try encoder.compressMember(named: "a", contents: contents.span)
        #expect(member.sha256.hex == ContentHash(of: contents).hex)
        #expect(member.size == contents.count)
        #expect(member.frame.contentSize == 512 + (contents.count + 511) / 512 * 512)
        #expect(try encoder.compressArchiveEnd().contentSize == 1024)
    }

    /// Returns bytes that cannot be compressed.
    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 7)
        let words = (0..<count / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { Array($0) }
    }

    /// The contents of a member.
    ///
    /// The type is not `Codable` and has a short description, because the testing library would otherwise describe each
    /// of several million bytes.
    struct Contents: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]

        var testDescription: String { "\(bytes.count) bytes" }
    }

    @Test(
        "A member can be read, whatever its size and compressibility",
        arguments: [
            [], [1], [UInt8](repeating: 7, count: 511), [UInt8](repeating: 7, count: 512),
            SampleContainer.text(lines: 3000), SampleContainer.text(lines: 90_000), noise(3 << 20), noise(9 << 20),
        ].map(Contents.init))
    func members(_ sample: Contents) throws {
        let contents = sample.bytes
        let encoder = try FrameEncoder(level: 3)
        var writer = ContainerWriter()
        var file: [UInt8] = []
        for name in ["a", "b"] {
            let member = try encoder.compressMember(named: name, contents: contents.span)
            #expect(member.sha256.hex == ContentHash(of: contents).hex)
            #expect(member.size == contents.count)
            try writer.append(member) { file.append(copying: $0) }
        }
        try writer.finish(end: try encoder.compressArchiveEnd()) { file.append(copying: $0) }
        #expect(try SampleContainer.read(file) == ["a": contents, "b": contents])
    }

    @Test("The output does not depend on earlier members", arguments: [1, 3, 9, 19])
    func outputIsIndependent(level: Int) throws {
        let used = try FrameEncoder(level: level)
        let noise = Self.noise(1 << 20)
        _ = try used.compressMember(named: "noise", contents: noise.span)
        for share in [100, 128, 262] {
            let contents = noise.prefix(share << 10) + [UInt8](repeating: 7, count: 512 << 10)
            let new = try FrameEncoder(level: level)
            #expect(
                try new.compressMember(named: "a", contents: contents.span)
                    == used.compressMember(named: "a", contents: contents.span))
        }
    }

    @Test func invalidNamesAreRejected() throws {
        let encoder = try FrameEncoder(level: 3)
        #expect(throws: ContainerWriteError.invalidHeader(name: "/a", .invalidName)) {
            try encoder.compressMember(named: "/a", contents: [1].span)
        }
        #expect(try encoder.compressMember(named: "a", contents: [1].span).size == 1)
    }

    @Test func containerWithoutMembersIsValid() throws {
        #expect(try SampleContainer.read(SampleContainer.container([])) == [:])
    }

    @Test func largeMemberIsReadWithinTheLimit() throws {
        let contents = SampleContainer.text(lines: 150_000)
        let reader = try ContainerReader(ByteSource(try SampleContainer.container([("large", contents)])))
        var decoder = FrameDecoder()
        let member = try reader.allMembers()[0]
        #expect(try reader.read(member, with: &decoder, byteLimit: contents.count) == contents)
        let error = ContainerError(at: 0, .overLimit(contents.count - 1))
        #expect(throws: error) {
            _ = try reader.read(member, with: &decoder, byteLimit: contents.count - 1)
        }
        #expect(try reader.read(member, with: &decoder, byteLimit: Int.max) == contents)
    }

    @Test func threadsReadInParallel() async throws {
        let members = (0..<20).map { ("m\($0)", SampleContainer.text(lines: 2000, seed: UInt64($0))) }
        let file = try TemporaryFile(try SampleContainer.container(members))
        let reader = try ContainerReader(ByteSource(InputFile(path: file.path)))
        let found = try reader.allMembers()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    var decoder = FrameDecoder()
                    return try stride(from: lane, to: 20, by: 4).allSatisfy {
                        try reader.read(found[$0], with: &decoder, byteLimit: 1 << 20) == members[$0].1
                    }
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test(arguments: [0, 20, -1])
    func levelsOutOfRangeAreRejected(level: Int) {
        #expect(throws: ContainerWriteError.invalidLevel(level)) { _ = try FrameEncoder(level: level) }
    }

    @Test func writerRejectsDuplicateNames() throws {
        let encoder = try FrameEncoder(level: 1)
        let member = try encoder.compressMember(named: "a", contents: [1].span)
        var writer = ContainerWriter()
        try writer.append(member) { _ in }
        #expect(throws: ContainerWriteError.duplicateName("a")) { try writer.append(member) { _ in } }
        #expect(writer.members.map(\.name) == ["a"])
        try writer.finish(end: try encoder.compressArchiveEnd()) { _ in }
        #expect(throws: ContainerWriteError.writerClosed) { try writer.append(member) { _ in } }
    }

    @Test func failedSinkClosesTheWriter() throws {
        struct Full: Error {}
        let encoder = try FrameEncoder(level: 1)
        let member = try encoder.compressMember(named: "a", contents: [1].span)
        var writer = ContainerWriter()
        #expect(throws: Full.self) { try writer.append(member) { _ in throw Full() } }
        #expect(throws: ContainerWriteError.writerClosed) { try writer.append(member) { _ in } }
        #expect(throws: ContainerWriteError.writerClosed) {
            try writer.finish(end: try encoder.compressArchiveEnd()) { _ in }
        }
        #expect(writer.members == [])
    }

    @Test func writesToAnAtomicOutput() throws {
        let path = "/tmp/pingferry-test-\(UUID().uuidString).tar.zst"
        defer { unlink(path) }
        let encoder = try FrameEncoder(level: 3)
        var writer = ContainerWriter()
        let output = try AtomicOutput(path: path, replacing: false)
        try writer.append(try encoder.compressMember(named: "a", contents: [1, 2].span)) { try output.write($0) }
        try writer.finish(end: try encoder.compressArchiveEnd()) { try output.write($0) }
        try output.commit()
        let reader = try ContainerReader(ByteSource(InputFile(path: path)))
        #expect(try reader.allMembers().map(\.name) == ["a"])
    }
}
