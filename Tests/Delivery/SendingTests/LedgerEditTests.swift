import Foundation
import TestSupport
import Testing

/// Tests the commands that edit the ledger.
@Suite struct LedgerEditTests {
    private let folder: TemporaryFolder
    private var ledger: String { folder("state/ledger.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: ["retry", "forget"])
    func missingLedgerIsNotCreated(command: String) async throws {
        let finished = try await upload(command, "--ledger", ledger, "X")
        #expect(finished.status == 66)
        #expect(finished.errorLines.first == "pingferry-upload: \(ledger): the ledger does not exist")
        #expect(folder.names == [])
    }
}
