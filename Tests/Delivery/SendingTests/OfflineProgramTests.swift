import TestSupport
import Testing

/// Tests that the offline program and its libraries contain no network code.
@Suite struct OfflineProgramTests {
    /// Checks a program in the same way as the release process.
    private func check(_ program: String) throws -> FinishedProgram {
        try RunningProgram(["\(repository)/.ci/offline", builtProgram(program)]).finish()
    }

    @Test func offlineProgramHasNoNetworkCode() throws {
        let finished = try check("pingferry")
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines == [])
    }

    @Test func checkDetectsNetworkCode() throws {
        let finished = try check("pingferry-upload")
        #expect(finished.status == 1)
        // The check finds symbols of modules, symbols of a library, and the name of the library.
        #expect(finished.lines.contains { $0.contains("4HTTP10HTTPClient") })
        #expect(finished.lines.contains { $0.contains(" U curl_easy_init") })
        #expect(finished.lines.contains { $0.contains("NEEDED") && $0.contains("libcurl") })
    }

    @Test func fileWithoutSymbolsFailsTheCheck() throws {
        #expect(try check("/none").status == 2)
        #expect(try RunningProgram(["\(repository)/.ci/offline", "/bin/sh"]).finish().status == 2)
    }
}
