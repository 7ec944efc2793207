import Foundation
import TestSupport
import Testing

@testable import Delivery

/// Tests `send --signers`, which sends nothing unless all bundles are signed.
@Suite struct SignedBundleTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private let signers: String

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        _ = try tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder("key"))
        signers = try folder.put("ines@example.org \(try folder.text("key.pub"))", "signers")
    }

    private func job(_ arguments: String..., environment: [String: String] = [:]) async throws -> FinishedProgram {
        let common = ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone]
        return try await Uploader(
            ["send", "--endpoint", "mozilla=\(server.address)"] + arguments + common, environment: environment
        ).finish()
    }

    private func bundle(_ name: String, _ numbers: Range<Int>, isSigned: Bool = true) async throws -> String {
        let path = try await Sample.bundle(
            numbers.map { Sample.ping($0, client: "C") }, at: folder("\(name).tar.zst"))
        if isSigned {
            _ = try tool("ssh-keygen", "-q", "-Y", "sign", "-n", "pingferry-bundle", "-f", folder("key"), path)
        }
        return path
    }

    @Test func signedBundlesAreSent() async throws {
        let path = try await bundle("a", 1..<4)
        #expect(try await job("--signers", signers, path).status == 0)
        #expect(try await server.report().total == 3)
    }

    @Test func signatureIsMovedWithItsBundle() async throws {
        let path = try await bundle("a", 1..<3)
        let done = try folder.makeFolder("done")
        #expect(try await job("--signers", signers, "--move-done", done, path).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: done).sorted() == ["a.tar.zst", "a.tar.zst.sig"])
        #expect(!FileManager.default.fileExists(atPath: "\(path).sig"))
    }

    @Test func unsignedBundlePreventsAllUploads() async throws {
        let (signed, plain) = (try await bundle("a", 1..<3), try await bundle("b", 3..<5, isSigned: false))
        for options in [["--signers", signers], ["--signers", signers, "--dry-run"]] {
            let finished = try await Uploader(
                ["send", "--endpoint", "mozilla=\(server.address)", "--ledger", folder("ledger.sqlite")] + options
                    + [signed, plain]
            ).finish()
            #expect(finished.status == 65)
            #expect(finished.errors.contains("\(plain): not signed: there is no \(plain).sig"), "\(finished.errors)")
            #expect(finished.errors.contains("--keep-going") != options.contains("--dry-run"))
        }
        let environment = ["PINGFERRY_SIGNERS": signers]
        #expect(try await job(signed, plain, environment: environment).status == 65)
        #expect(try await server.report().total == 0)
        // An empty variable does not turn the check off.
        let empty = try await job(signed, environment: ["PINGFERRY_SIGNERS": ""])
        #expect(empty.status == 78 && empty.errors.contains("PINGFERRY_SIGNERS is set but empty"))
        #expect(try await server.report().total == 0)
        // With --keep-going, only the signed bundle is sent.
        let finished = try await job("--keep-going", signed, plain, environment: environment)
        #expect(finished.status == 65)
        let reason = "not signed: there is no \(plain).sig"
        #expect(finished.text.contains("delivered 2; left out: \(plain): \(reason)"), "\(finished.text)")
        #expect(try await server.report().total == 2)
    }

    @Test func revokedKeyIsRejected() async throws {
        let path = try await bundle("a", 1..<3)
        let finished = try await job("--signers", signers, "--revoked", folder("key.pub"), path)
        #expect(finished.status == 65)
        #expect(finished.errors.contains("the key is revoked"))
        #expect(try await server.report().total == 0)
    }

    @Test func missingProgramOrSignersAreReported() async throws {
        let path = try await bundle("a", 1..<3)
        #expect(try await job("--signers", signers, path, environment: ["PATH": "/none"]).status == 69)
        #expect(try await job("--signers", folder("none"), path).status == 66)
        #expect(try await server.report().total == 0)
    }

    @Test func bundleChangedAfterTheCheckIsNotSent() async throws {
        let (path, other) = (try await bundle("a", 1..<3), try await bundle("b", 7..<9, isSigned: false))
        try folder.putProgram(
            """
            #!/bin/bash
            /usr/bin/ssh-keygen "$@"; status=$?
            [[ $2 != verify ]] || cat "\(other)" > "\(path)"
            exit $status

            """, "bin/ssh-keygen")
        let finished = try await job(
            "--signers", signers, path, environment: ["PATH": "\(folder("bin")):\(searchPath)"])
        #expect(finished.status == 65)
        #expect(finished.errors.contains("has changed since it was checked"), "\(finished.errors)")
        #expect(try await server.report().total == 0)
    }
}
