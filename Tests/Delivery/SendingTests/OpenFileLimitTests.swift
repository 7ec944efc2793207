import TestSupport
import Testing

/// Tests that a job with too few open files ends with a message before it sends anything.
@Suite struct OpenFileLimitTests {
    @Test func limitOfOpenFilesIsReported() async throws {
        let folder = try TemporaryFolder()
        let bundle = try await Sample.bundle([Sample.ping(1, client: "C")], at: folder("b.tar.zst"))
        for limit in [4, 6, 8, 12, 20, 32, 48, 64] {
            let finished = try await Uploader(
                ["send", "--ledger", folder("ledger"), "--endpoint", "http://127.0.0.1:1", "--attempts", "1", bundle],
                through: ["prlimit", "--nofile=\(limit)"]
            ).finish()
            #expect(finished.status == 74, "\(limit): \(finished.errors)")
            #expect(
                finished.errors.contains("pingferry-upload: cannot open ") && finished.errors.contains("ulimit -n"))
            #expect(folder.names == ["b.tar.zst"], "\(limit): nothing was begun")
        }
    }
}
