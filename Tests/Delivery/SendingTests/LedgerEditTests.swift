import Foundation
import TestSupport
import Testing

/// Tests the commands that edit or report on the ledger.
@Suite struct LedgerEditTests {
    private let folder: TemporaryFolder
    private var ledger: String { folder("state/ledger.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        ["retry", "X"], ["retry", "--all"], ["forget", "X"], ["forget", "--for-good", "X"],
        ["release", "--reason", "schema", "X"], ["release", "--force", "--reason", "schema", "X"],
        ["prune", "--older-than", "90d"], ["status"], ["status", "--json"], ["ledger", "check"],
    ])
    func missingLedgerIsNotCreated(command: [String]) async throws {
        let finished = try await Uploader(command + ["--ledger", ledger]).finish()
        #expect(finished.status == 66)
        #expect(finished.errorLines.first == "pingferry-upload: \(ledger): the ledger does not exist")
        #expect(folder.names == [])
    }
}
