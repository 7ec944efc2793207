import Bundle
import Files
import Systems
import Telemetry
import Testing

@testable import Capture

/// Tests of the limits of increments, without running a command.
@Suite struct BundleMakerTests {
    /// Makes a bundle that continues the given number of bundles.
    private func makeBundle(parentCount: Int) async throws -> Manifest {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        var earlier = EarlierBundles()
        for number in 0..<parentCount {
            earlier.add(
                BundleIndex(
                    digest: PayloadHash.hex(of: Array("\(number)".utf8)), ancestors: [], records: [:], details: []))
        }
        let maker = BundleMaker(
            CaptureReader([.folder(try await folder.open())]), level: 1, toolVersion: "1", quarantineLimit: 0,
            earlier: earlier)
        return try await maker.make(
            hashes: InputHashes(limit: JobLimit(jobs: 2)), labels: ["capture"], systems: Systems.table,
            progress: { _, _ in }, to: { _ in }
        ).manifest
    }

    @Test("A bundle cannot continue more bundles than readers accept")
    func parentLimit() async throws {
        let limit = BundleLayout.maxParentCount
        #expect(try await makeBundle(parentCount: limit).parents.count == limit)
        await #expect(throws: ContainerWriteError.tooManyParents) { try await makeBundle(parentCount: limit + 1) }
    }
}
