import Foundation
import TestSupport
import Testing

/// Tests that the program can be killed while it creates a ledger.
@Suite struct LedgerKillTests {
    @Test func nextJobUsesALedgerWhoseCreationWasKilled() async throws {
        var generator = SeededGenerator(seed: 20_180_524)
        let folder = try TemporaryFolder(inMemory: true)
        let server = try LoopbackServer()
        try await server.setRules(keep: 0)
        let bundle = try await Sample.bundle([Sample.ping(1, client: "C")], at: folder("b.tar.zst"))
        let rounds = 24
        for round in 0..<rounds {
            let ledger = folder("\(round)/l")
            try folder.makeFolder("\(round)")
            let arguments = [
                "send", "--ledger", ledger, "--timezone", noonTimezone, "--endpoint", "mozilla=\(server.address)",
                bundle,
            ]
            let uploader = try Uploader(arguments)
            // The program locks the ledger first. The following steps take a few milliseconds.
            while !FileManager.default.fileExists(atPath: ledger + ".lock"), uploader.program.isRunning { usleep(50) }
            usleep(UInt32.random(in: 0...12_000, using: &generator))
            uploader.program.send(SIGKILL)
            uploader.program.wait()
            let status = try await upload("status", "--ledger", ledger)
            #expect([0, 66].contains(status.status), "\(status.errors)")
            let next = try await Uploader(arguments).finish()
            #expect(next.status == 0, "\(folder.names) \(next.errors)")
        }
        // Each round has a new ledger, so that the ping arrives once, or twice if the first job was killed late.
        #expect(try await server.report().total >= rounds)
    }
}
