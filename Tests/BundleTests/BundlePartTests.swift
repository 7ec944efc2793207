import Files
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Bundle

/// Tests of bundles of which only some members are read.
@Suite struct BundlePartTests {
    private static func open(_ bytes: [UInt8]) throws -> BundleReader {
        try BundleReader(ByteSource(bytes), path: "part", knowing: Systems.table)
    }

    private static func segments(_ reader: BundleReader) throws -> [[UInt8]] {
        var decoder = FrameDecoder()
        return try reader.manifest.segments.map { try reader.contents(of: $0.path, with: &decoder) }
    }

    /// Returns a bundle with three segments.
    ///
    /// The first two have two records each, and the last one has one.
    private static func large() async throws -> [UInt8] {
        let sizes = [20, 140_000, 140_000, 20, 140_000]
        let records = sizes.enumerated().map { SampleBundle.record($0.offset, payloadSize: $0.element) }
        return try await SampleBundle.pack(records, quarantined: [[1, 2, 3]]).bytes
    }

    @Test("Damage in other segments has no effect")
    func damagedSegment() async throws {
        let bytes = try await Self.large()
        let members = try BundleReader(bytes: bytes).members
        let intact = try Self.segments(Self.open(bytes))
        try #require(intact.count == 3)
        for number in 0..<3 {
            var damaged = bytes
            let frame = members[1 + number]
            for index in frame.offset..<frame.offset + frame.compressedSize { damaged[index] = 0 }
            let reader = try Self.open(damaged)
            var decoder = FrameDecoder()
            for (other, segment) in reader.manifest.segments.enumerated() {
                if other == number {
                    #expect(throws: BundleError.self) { try reader.contents(of: segment.path, with: &decoder) }
                } else {
                    #expect(try reader.contents(of: segment.path, with: &decoder) == intact[other])
                }
            }
        }
    }

    @Test("A flipped byte is detected, or it does not change the contents of segments")
    func flips() async throws {
        let bytes = try await SampleBundle.small()
        let intact = try Self.segments(Self.open(bytes))
        for index in bytes.indices {
            var flipped = bytes
            flipped[index] ^= 0x10
            guard let found = try? Self.segments(Self.open(flipped)) else { continue }
            #expect(found == intact, "byte \(index)")
        }
    }

    @Test("A bundle that is truncated at any byte is rejected")
    func cuts() async throws {
        let bytes = try await SampleBundle.small()
        for count in bytes.indices {
            #expect(throws: BundleError.self, "\(count) bytes") { try Self.open(Array(bytes.prefix(count))) }
        }
    }

    @Test("Members that do not match the manifest are rejected")
    func otherMembers() async throws {
        let members = try SampleBundle.members(try await SampleBundle.small())
        func error(_ change: (inout [(name: String, contents: [UInt8])]) -> Void) throws -> String? {
            var changed = members.map { (name: $0.name, contents: $0.contents) }
            change(&changed)
            let bytes = try SampleContainer.container(changed)
            do {
                _ = try Self.segments(Self.open(bytes))
                return nil
            } catch let error as BundleError {
                return error.description
            }
        }
        #expect(try error { _ in } == nil)
        #expect(try error { $0.remove(at: 1) } != nil)
        #expect(
            try error { $0[1].contents += [10] + [UInt8](repeating: 32, count: 512) }?
                .hasSuffix("its content size differs from that of records/000001.ndjson)") == true)
        #expect(
            try error { $0[1].contents[0] ^= 1 }
                == "records/000001.ndjson: its contents do not match the hash in the manifest")
        #expect(try error { $0[1].name = "records/000002.ndjson" } != nil)
        #expect(
            try error { $0[0].contents = Array("{}".utf8) }
                == "not a bundle: the first member is not pingferry-bundle.json")
        #expect(try error { $0.removeAll() } == "not a bundle: the first member is not pingferry-bundle.json")
        #expect(
            try error { $0.removeFirst($0.count - 1) } == "not a bundle: the first member is not pingferry-bundle.json")
    }
}
