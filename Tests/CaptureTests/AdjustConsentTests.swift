import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of devices that Adjust has been asked to forget, and of queues in two folders.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 5 and 7.7.
@Suite struct AdjustConsentTests {
    private static let client = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"
    private static let newerFolder = "Library/Application Support/Adjust"
    private static let preferences = "Library/Preferences/com.example.shop.plist"

    private func copy(_ name: String) throws -> CaptureFolder {
        let folder = try CaptureFolder()
        try tool(["cp", "-R", "\(repository)/Tests/Fixtures/consent/\(name)/.", folder.path])
        return folder
    }

    private func withdrawals(_ folder: CaptureFolder) async throws -> [Withdrawal] {
        var withdrawals: [Withdrawal] = []
        let options = ScanOptions(systems: Systems.table)
        try await CaptureReader([.folder(folder.open())], options: options, jobs: 2).read(0) { output in
            withdrawals += output.withdrawals
        }
        return withdrawals
    }

    // MARK: Downgrades

    @Test("After a downgrade, the queue in the older folder is live and the other one is superseded")
    func downgrade() async throws {
        let folder = try copy("adj320-downgrade")
        let records = try await ReadCapture(folder.open()).records
        #expect(
            records.map { [$0.source.path.hasPrefix("Documents/") ? "older" : "newer"] + $0.held.map(\.code) } == [
                ["older", "attribution"], ["older", "attribution"], ["newer", "attribution", "superseded"],
            ])
    }

    @Test("The activity or the packages alone decide which queue is live", arguments: ["Documents", newerFolder])
    func partialEvidence(folderWithoutState: String) async throws {
        let folder = try copy("adj320-downgrade")
        try tool(["rm", "\(folder.path)/\(folderWithoutState)/AdjustIoActivityState"])
        let records = try await ReadCapture(folder.open()).records
        let superseded = records.filter { $0.held.contains { $0.code == "superseded" } }
        #expect(superseded.map(\.source.path) == ["\(Self.newerFolder)/AdjustIoPackageQueue"])
    }

    @Test("If the newer folder contains the later activity, the queue in the older folder is superseded")
    func update() async throws {
        let folder = try copy("adj320-downgrade")
        // Exchange the two folders.
        try tool([
            "bash", "-c",
            "cd \"$0\" && mv Documents x && mv \"\(Self.newerFolder)\" Documents && mv x \"\(Self.newerFolder)\"",
            folder.path,
        ])
        let records = try await ReadCapture(folder.open()).records
        let superseded = records.filter { $0.held.contains { $0.code == "superseded" } }
        #expect(superseded.map(\.source.path) == ["Documents/AdjustIoPackageQueue"])
        #expect(records.count == 3)
    }

    // MARK: Forgotten devices

    @Test("The preferences withdraw the client, with its queue, with an empty folder of the queue, and never alone")
    func forgottenByPreferences() async throws {
        let folder = try copy("adj-forgotten/tue")
        let expected = Withdrawal(
            .forgotten, of: Withdrawal.Subject(SystemName("adjust"), .client, id: Self.client), capture: "capture",
            path: Self.preferences)
        #expect(Set(try await withdrawals(folder)) == [expected])
        let records = try await ReadCapture(folder.open()).records
        #expect(records.allSatisfy { $0.held.contains { $0.code == "forgotten" } })
        #expect(Set(records.map { $0.client?.lowercased() }) == [Self.client])
        try tool(["rm", "\(folder.path)/\(Self.newerFolder)/AdjustIoPackageQueue"])
        #expect(try await withdrawals(folder) == [expected])
        try tool(["rm", "\(folder.path)/\(Self.newerFolder)/AdjustIoActivityState"])
        #expect(try await withdrawals(folder).isEmpty)
    }

    @Test("A device that is not forgotten withdraws nothing, and damaged preferences are reported once")
    func notForgotten() async throws {
        let folder = try copy("adj-forgotten/tue")
        try folder.putPropertyList(Self.preferences, ["adj_gdpr_forget_me": false])
        #expect(try await withdrawals(folder).isEmpty)
        try folder.put(Self.preferences, "adj_gdpr_forget_me")
        #expect(try await ReadCapture(folder.open()).problemCodes == ["\(Self.preferences) damaged"])
        try tool(["rm", "\(folder.path)/\(Self.newerFolder)/AdjustIoPackageQueue"])
        #expect(try await ReadCapture(folder.open()).problemCodes == ["\(Self.preferences) damaged"])
    }
}
