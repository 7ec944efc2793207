import Files
import Telemetry
import Testing

@testable import Bundle

@Suite struct BundleReaderTests {
    private func contents(_ bytes: [UInt8]) throws -> [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try SampleBundle.members(bytes).map { ($0.name, $0.contents) })
    }

    @Test func intactBundleIsVerified() async throws {
        let bytes = try await SampleBundle.small()
        let reader = try BundleReader(bytes: bytes)
        #expect(reader.members.map(\.name).first == "pingferry-bundle.json")
        #expect(
            reader.members.map(\.name).suffix(4) == [
                "quarantine.ndjson", "problems.ndjson", "clients.ndjson", "manifest.json",
            ])
        #expect(reader.manifest.totals.records == 3)
        #expect(try await SampleBundle.verify(bytes) == reader.manifest.digest)
    }

    /// Flips bits.
    ///
    /// Each flip must be detected, or it must be in bits without a meaning.
    @Test func everyFlippedByteIsAnErrorOrChangesNothing() async throws {
        let bytes = try await SampleBundle.small()
        let intact = try contents(bytes)
        var unnoticed = 0
        for index in bytes.indices {
            let mask: UInt8 = index.isMultiple(of: 2) ? 0x01 : 0x40
            var flipped = bytes
            flipped[index] ^= mask
            guard (try? await SampleBundle.verify(flipped)) != nil else { continue }
            unnoticed += 1
            #expect(try contents(flipped) == intact, "byte \(index) ^ \(mask)")
        }
        #expect(unnoticed < bytes.count / 20)
    }

    @Test func truncatedBundleIsRejected() async throws {
        let bytes = try await SampleBundle.small()
        for count in bytes.indices {
            #expect(throws: BundleError.self, "\(count) bytes") { try BundleReader(bytes: Array(bytes.prefix(count))) }
        }
    }

    @Test func otherContainersAreNotBundles() throws {
        for members in [[], [("manifest.json", [])], [("a", [1]), ("manifest.json", [1])]] as [[(String, [UInt8])]] {
            let error = #expect(throws: BundleError.self) {
                try BundleReader(bytes: SampleContainer.container(members))
            }
            #expect(error?.description == "not a bundle: the first member is not pingferry-bundle.json")
        }
    }

    @Test func missingFileIsReported() {
        let error = #expect(throws: BundleError.self) { try BundleReader(path: "/none/a.tar.zst") }
        #expect(error?.description == "cannot open /none/a.tar.zst: No such file or directory")
    }

    @Test func errorNamesMissingMember() async throws {
        let reader = try BundleReader(bytes: try await SampleBundle.small())
        var decoder = FrameDecoder()
        let error = #expect(throws: BundleError.self) { try reader.contents(of: "quarantine/none", with: &decoder) }
        #expect(error?.description == "quarantine/none is missing")
    }
}
