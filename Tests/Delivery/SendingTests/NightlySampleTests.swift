import Foundation
import TestSupport
import Testing

/// Tests the samples for nightly jobs, as far as this is possible without a network.
@Suite struct NightlySampleTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bundles", "done", "bin", ".config/pingferry"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        for program in ["pingferry", "pingferry-upload"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder("bin/\(program)"), withDestinationPath: builtProgram(program))
        }
        try folder.put(#"{"sift":{"acme":"key"}}"#, ".config/pingferry/credentials.json", mode: 0o600)
        try tool("cp", "-R", sample("focus"), folder("phone"))
    }

    private func contents(_ name: String) throws -> String {
        try String(contentsOfFile: sample("nightly/\(name)"), encoding: .utf8)
    }

    /// Runs a line as the shell of an operator would.
    ///
    /// A proxy on loopback prevents connections to other machines.
    private func shell(_ line: String, proxy: LoopbackServer) throws -> FinishedProgram {
        let environment = [
            "HOME": folder.path, "PATH": "\(folder("bin")):\(searchPath)",
            "https_proxy": "http://127.0.0.1:\(proxy.port)", "CREDENTIALS_DIRECTORY": folder(".config/pingferry"),
            "XDG_STATE_HOME": folder("state"),
        ]
        return try RunningProgram(["env", "-C", folder.path, "sh", "-c", line], environment: environment).finish()
    }

    /// Returns a proxy that refuses all connections.
    private func refusingProxy() throws -> LoopbackServer {
        try LoopbackServer("--proxy", "--proxy-authorization=Basic nobody")
    }

    @Test func crontabLinePrintsOneLineIfRecordsAreLeft() async throws {
        let line = try #require(try contents("crontab").split(separator: "\n").last)
        let fields = line.split(separator: " ", maxSplits: 5)
        #expect(fields.prefix(5).allSatisfy { $0.allSatisfy { $0.isNumber || $0 == "*" } })
        let proxy = try refusingProxy()
        #expect(try shell("pingferry bundle -q -o bundles/a.tar.zst phone", proxy: proxy).status == 1)
        let command = String(fields[5])
        #expect(try shell(command, proxy: proxy).status == 66, "the ledger must exist")
        let first = try shell(command.replacing(" --ledger-must-exist", with: ""), proxy: proxy)
        #expect(first.errors.contains("created a new ledger at "))
        let finished = try shell(command, proxy: proxy)
        #expect(finished.status == 78)
        #expect(finished.text.split(separator: "\n").count == 1)
        #expect(finished.text.contains("the proxy does not accept the credential: 127.0.0.1:\(proxy.port)"))
        #expect(finished.errors == "")
        try FileManager.default.removeItem(atPath: folder(".config/pingferry/credentials.json"))
        #expect(try shell(command, proxy: proxy).status == 78, "there need not be a file of credentials")
        try FileManager.default.removeItem(atPath: folder("bundles/a.tar.zst"))
        let idle = try shell(command, proxy: proxy)
        #expect(idle.status == 0, "a job without bundles succeeds")
        #expect(idle.text == "" && idle.errors == "")
    }

    @Test func systemdUnitsRunTheUploader() async throws {
        let service = try contents("pingferry-upload.service")
        let start = try #require(service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        // systemd replaces ${NAME} as a shell does.
        let command = String(start.dropFirst("ExecStart=".count))
        let proxy = try refusingProxy()
        #expect(try shell("pingferry bundle -q -o bundles/a.tar.zst phone", proxy: proxy).status == 1)
        let local = command.replacing("/var/lib/pingferry/", with: folder.path + "/")
            .replacing("/etc/pingferry/", with: folder.path + "/")
        let options = try contents("upload.conf").replacing("/var/lib/pingferry/", with: folder.path + "/")
        try folder.put(options, "upload.conf")
        #expect(try shell(local, proxy: proxy).status == 78)
        #expect(try folder.text("upload.prom").contains("\npingferry_last_exit_status 78\n"))
        #expect(FileManager.default.fileExists(atPath: folder("ledger.sqlite")))
        // The program has the options in comments of the sample, of which none is indented.
        let commented = options.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }
        #expect(commented.count == 4)
        for option in commented {
            try folder.put("\(options)\n\(option.dropFirst())\n", "upload.conf")
            let status = try shell("pingferry-upload status --config upload.conf", proxy: proxy)
            #expect(status.text.contains("upload.conf: --\(option.dropFirst().replacing(" = ", with: "="))\n"))
        }
        try folder.put(options, "upload.conf")
        // A plan ignores the outputs in the file.
        let plan = try shell("pingferry-upload send --dry-run --config upload.conf bundles", proxy: proxy)
        #expect(plan.status == 0 && plan.text.contains("uploads planned of"), "\(plan.errors)")
        // On a night without bundles, the job succeeds and writes new metrics.
        try FileManager.default.removeItem(atPath: folder("bundles/a.tar.zst"))
        #expect(try shell(local, proxy: proxy).status == 0)
        #expect(try folder.text("upload.prom").contains("\npingferry_last_exit_status 0\n"))
        #expect(try contents("pingferry-upload.timer").contains("OnCalendar="))
    }

    @Test(.enabled(if: isInstalled("systemd-analyze"), "systemd is not installed"))
    func systemdAcceptsTheUnits() throws {
        try tool(
            "systemd-analyze", "verify", "--man=no", sample("nightly/pingferry-upload.timer"),
            sample("nightly/pingferry-upload.service"), sample("nightly/pingferry-upload-failed.service"))
    }

    /// Tests that the blocks of the article can be pasted into a shell in an empty folder.
    @Test func airGapArticleRunsInAnEmptyFolder() throws {
        let walk = try TemporaryFolder()
        let blocks = try contents("air-gap.md").components(separatedBy: "```sh\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count > 15)
        let environment = ["HOME": walk.path, "PATH": "\(folder("bin")):\(searchPath)"]
        // The script is passed as standard input. A command that reads standard input would read the commands after it.
        let finished = try RunningProgram(
            ["env", "-C", walk.path, "sh", "-e"], environment: environment, input: Array(blocks.joined().utf8)
        ).finish()
        #expect(finished.status == 0, "\(finished.text.suffix(500)) \(finished.errors.suffix(500))")
        #expect(walk.names == ["authority", "ines", "ravi", "stick"])
        #expect(try walk.text("ravi/received.json").contains(#""result":"good""#))
        // The volume was damaged, and repaired in the copy.
        #expect(finished.text.contains("\nrepaired "))
        #expect(try walk.data("stick/phone.tar.zst.001") != walk.data("ravi/bundles/phone.tar.zst.001"))
        #expect(finished.text.contains("uploads planned of 120 records"))
        #expect(finished.text.contains("ravi/bundles/phone.tar.zst.001: not done"))
        #expect(try tool("stat", "-c", "%a", walk("ravi/bundles/phone.tar.zst.001")) == "600\n")
    }
}
