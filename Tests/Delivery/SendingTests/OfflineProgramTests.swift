import TestSupport
import Testing

/// The offline program cannot talk to a network: neither it nor a library that it was linked with has the code.
@Suite struct OfflineProgramTests {
    /// Looks at a program as the check of a release does.
    private func check(_ program: String) throws -> FinishedProgram {
        try RunningProgram(["\(repository)/.ci/offline", builtProgram(program)]).finish()
    }

    @Test func theOfflineProgramHasNoNetworkCode() throws {
        let finished = try check("pingferry")
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines == [])
    }

    @Test func theCheckWouldSeeIt() throws {
        let finished = try check("pingferry-upload")
        #expect(finished.status == 1)
        // Of modules, of a library, and of its name.
        #expect(finished.lines.contains { $0.contains("4HTTP10HTTPClient") })
        #expect(finished.lines.contains { $0.contains(" U curl_easy_init") })
        #expect(finished.lines.contains { $0.contains("NEEDED") && $0.contains("libcurl") })
    }

    @Test func aFileWithoutSymbolsProvesNothing() throws {
        #expect(try check("/none").status == 2)
        #expect(try RunningProgram(["\(repository)/.ci/offline", "/bin/sh"]).finish().status == 2)
    }
}
