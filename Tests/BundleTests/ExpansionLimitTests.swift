import Files
import Hashing
import Systems
import Testing

@testable import Bundle

/// Tests of the limits on contents that expand to many times the size of their frames.
///
/// Source: "Bundle", "Limits".
@Suite struct ExpansionLimitTests {
    /// Returns a bundle whose manifest has the given contents.
    private func bundle(manifest: [UInt8]) throws -> [UInt8] {
        let marker = SampleContainer.members[0]
        return try SampleContainer.container([marker, ("manifest.json", manifest)], level: 19)
    }

    private func error(_ bytes: [UInt8]) -> BundleError? {
        do throws(BundleError) {
            _ = try BundleReader(ByteSource(bytes), path: "b", knowing: Systems.table)
            return nil
        } catch {
            return error
        }
    }

    @Test("A manifest that expands to millions of small values is rejected before it is read")
    func smallValues() throws {
        let values = #"{"format":[\#(String(repeating: "0,", count: 4 << 20))0]}"#
        let bytes = try bundle(manifest: Array(values.utf8))
        #expect(bytes.count < 16 << 10)
        guard case .container(let error)? = error(bytes), case .overLimit(let limit) = error.reason else {
            return #expect(Bool(false), "the manifest was read")
        }
        #expect(limit < 2 << 20)
    }

    @Test("The limits leave room for the contents that this program writes")
    func limits() {
        let limit = BundleLayout.contentLimit
        #expect(limit("manifest.json", 0) == 1 << 20)
        // A manifest of 200 MiB with a hash for each 192 bytes.
        #expect(limit("manifest.json", (200 << 20) / 6) == BundleLayout.manifestSizeLimit)
        #expect(limit("records/000001.ndjson", 0) == 96 << 20)
        #expect(limit("records/000001.ndjson", 1 << 20) == 160 << 20)
        #expect(limit("records/000001.ndjson", 64 << 20) == BundleLayout.memberSizeLimit)
        #expect(limit("quarantine/x", 0) == BundleLayout.memberSizeLimit)
    }

    @Test("A manifest of many members stays far below its limit")
    func genuineManifest() throws {
        let lines = (0..<20_000).map { number in
            let hash = ContentHash(of: Array("\(number)".utf8)).hex
            return #"{"bytes":4190000,"path":"records/\#(number).ndjson","records":1,"sha256":"\#(hash)"}"#
        }
        let contents = Array(lines.joined(separator: ",").utf8)
        let encoder = try FrameEncoder(level: 19)
        let member = try encoder.compressMember(named: "manifest.json", contents: contents.span)
        let compressedSize = member.frame.bytes.count
        #expect(BundleLayout.contentLimit(ofMember: member.name, compressedSize: compressedSize) > 4 * contents.count)
    }
}
