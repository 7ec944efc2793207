import Foundation
import TestSupport
import Testing

/// Tests bundles whose hashes are correct, but whose numbers are not.
@Suite struct HostileBundleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let names = ["manifest-of-values", "overflow", "salvage"]

    private func run(_ words: [String]) throws -> FinishedProgram {
        try RunningProgram([builtProgram("pingferry")] + words).finish()
    }

    @Test("A hostile bundle is an error of the bundle in every command", arguments: names)
    func commands(name: String) throws {
        let bundle = fixture("hostile/\(name).tar.zst")
        let commands = [
            ["verify"], ["list"], ["convert", "-o", "-"], ["bundle", "-o", folder("out.tar.zst")], ["scan"], ["gaps"],
            ["report", "-o", folder("page.html")],
        ]
        for command in commands {
            let finished = try run(command + [bundle])
            #expect(finished.status == 65, "\(command): \(finished.status) \(finished.errors)")
            #expect(finished.errors.contains(bundle))
        }
    }

    @Test("A hostile bundle can be salvaged", arguments: names)
    func salvage(name: String) throws {
        let finished = try run(["convert", "--salvage", "-o", "-", fixture("hostile/\(name).tar.zst")])
        #expect([0, 1].contains(finished.status), "\(finished.status) \(finished.errors)")
    }

    @Test("A hostile bundle does not stop the upload of other bundles", arguments: names)
    func keepGoing(name: String) async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        let good = try await Sample.bundle([Sample.ping(1, client: "A")], at: folder("a.tar.zst"))
        let finished = try await upload(
            "send", "--keep-going", "--ledger", folder("ledger.sqlite"), "--endpoint", "mozilla=\(server.address)",
            fixture("hostile/\(name).tar.zst"), good)
        #expect(finished.status == 65, "\(finished.errors)")
        #expect(finished.text.hasPrefix("1 record: delivered 1"), "\(finished.text)")
    }
}
