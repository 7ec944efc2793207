import Foundation
import TestSupport
import Testing

/// The samples for a nightly job do what they say, as far as that can be seen without a network.
@Suite struct NightlySampleTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bundles", "done", "stick", "bin", ".config/pingferry"] {
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

    /// Runs a line as a shell of the operator would. A proxy on loopback keeps it from any other machine.
    private func shell(_ line: String, proxy: LoopbackServer) throws -> FinishedProgram {
        let environment = [
            "HOME": folder.path, "PATH": "\(folder("bin")):/usr/bin:/bin",
            "https_proxy": "http://127.0.0.1:\(proxy.port)", "CREDENTIALS_DIRECTORY": folder(".config/pingferry"),
            "XDG_STATE_HOME": folder("state"),
        ]
        return try RunningProgram(["env", "-C", folder.path, "sh", "-c", line], environment: environment).finish()
    }

    /// A proxy that connects nobody.
    private func refusingProxy() throws -> LoopbackServer {
        try LoopbackServer("--proxy", "--proxy-authorization=Basic nobody")
    }

    @Test func theLineForCronPrintsOneLineWhenSomethingIsLeft() async throws {
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
    }

    @Test func theUnitsRunTheUploader() async throws {
        let service = try contents("pingferry-upload.service")
        let start = try #require(service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let command = try #require(start.split(separator: "'").dropFirst().first)
        let proxy = try refusingProxy()
        #expect(try shell("pingferry bundle -q -o bundles/a.tar.zst phone", proxy: proxy).status == 1)
        try FileManager.default.moveItem(
            atPath: folder(".config/pingferry/credentials.json"), toPath: folder(".config/pingferry/pingferry"))
        let local = command.replacingOccurrences(of: "/var/lib/pingferry/", with: folder.path + "/")
        #expect(try shell(local, proxy: proxy).status == 78)
        #expect(FileManager.default.fileExists(atPath: folder("state/pingferry/ledger.sqlite")))
        #expect(try contents("pingferry-upload.timer").contains("OnCalendar="))
        // Where systemd is at hand, it has the last word on the syntax.
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze") else { return }
        try tool(
            "systemd-analyze", "verify", "--man=no", sample("nightly/pingferry-upload.timer"),
            sample("nightly/pingferry-upload.service"))
    }

    /// Makes what the walk takes as given: a house's own time stamp authority, and the receiver's key for `age`.
    private func makeWhatTheWalkNeeds() throws {
        // Enough for a second volume.
        try tool("cp", "-R", sample("firefox") + "/.", folder("phone"))
        try folder.put(
            """
            [tsa]
            default_tsa = own
            [own]
            serial = serial
            crypto_device = builtin
            signer_cert = authority.pem
            signer_key = authority.key
            signer_digest = sha256
            default_policy = 1.2.3.4.1
            digests = sha256

            """, "authority.cnf")
        try folder.put("01\n", "serial")
        try tool(
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder("authority.key"), "-out",
            folder("authority.pem"), "-subj", "/CN=authority", "-addext", "extendedKeyUsage=critical,timeStamping")
        try tool("age-keygen", "-o", folder("ravi"))
        try folder.put(try tool("age-keygen", "-y", folder("ravi")), "ravi.pub")
    }

    @Test func theWalkAcrossTheGapCanBeWalked() async throws {
        try makeWhatTheWalkNeeds()
        let proxy = try refusingProxy()
        let lines = try contents("air-gap.md").split(separator: "\n").filter { $0.hasPrefix("$ ") }
        #expect(lines.count == 23)
        for line in lines {
            let finished = try shell(String(line.dropFirst(2)), proxy: proxy)
            // The sample has a cut event, and the proxy lets nothing through.
            let allowed: [Int32] =
                line.hasPrefix("$ pingferry-upload --signers")
                ? [78]
                : line.hasPrefix("$ pingferry-upload status bundles")
                    ? [75] : line.contains("bundle -o") || line.contains("scan") ? [0, 1] : [0]
            #expect(allowed.contains(finished.status), "\(line): \(finished.errors)")
        }
        #expect(try folder.data("stick/phone.tar.zst.002").count > 0)
        #expect(try folder.text("received.json").contains(#""result":"good""#))
    }
}
