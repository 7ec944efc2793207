import Testing

@testable import Capture

/// Tests that property-list stores with repeated keys are read, and that the repetitions are reported.
@Suite struct RepeatedKeyTests {
    private func read(_ path: String, _ value: String) async throws -> ReadCapture {
        let folder = try CaptureFolder()
        try folder.put(path, "<plist version=\"1.0\">\(value)</plist>")
        return try await ReadCapture(try await folder.open())
    }

    @Test func mozillaPreferencesWithARepeatedKeyAreReported() async throws {
        let key = "<key>telemetry-key-prefix-sessions</key>"
        let found = try await read(
            "Library/Preferences/org.example.plist",
            "<dict>\(key)<integer>3</integer>\(key)<integer>4</integer></dict>")
        let problems = found.problems.map(\.problem)
        #expect(problems.map(\.code) == ["duplicate-key", "pending-counters"])
        #expect(problems.map(\.isLoss) == [false, false])
        #expect(problems.last?.text.hasPrefix("sessions 3,") == true)
        #expect(found.quarantined == [])
    }

    @Test func leanplumRequestsWithARepeatedKeyAreReported() async throws {
        let found = try await read(
            "Documents/_lprequests-app_FIXTURE",
            """
            <array><dict><key>action</key><string>track</string><key>deviceId</key><string>D</string>
            <key>time</key><string>1500000000.000000</string><key>action</key><string>start</string></dict></array>
            """)
        #expect(found.problems.map(\.problem.code) == ["duplicate-key"])
        #expect(found.problems.first?.problem.offset == 28)
        #expect(found.records.map { String(decoding: $0.payload, as: UTF8.self).contains("track") } == [true])
    }
}
