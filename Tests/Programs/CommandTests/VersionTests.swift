import Foundation
import TestSupport
import Testing

/// Tests of `--version --json`.
@Suite struct VersionTests {
    @Test(
        "The versions of the program and of the loaded libraries are printed",
        arguments: ["pingferry", "pingferry-upload"])
    func json(program: String) throws {
        for arguments in [["--version", "--json"], ["--json", "--version"]] {
            let finished = try RunningProgram([builtProgram(program)] + arguments).finish()
            #expect(finished.status == 0 && finished.errors.isEmpty)
            let object = try finished.json()
            #expect(Set(object.keys) == ["commit", "libraries", "program", "swift", "version"])
            #expect(object["program"] as? String == program)
            #expect(try object["version"] as? String == programVersion())
            let libraries = try #require(object["libraries"] as? [String: String])
            let network = program == "pingferry" ? "libarchive" : "libcurl"
            #expect(Set(libraries.keys) == [network, "glibc", "libzstd", "nettle", "sqlite", "zlib"])
            #expect(libraries.values.allSatisfy { $0.contains(#/[0-9]+\.[0-9]+/#) })
            #expect(try tool("getconf", "GNU_LIBC_VERSION") == "glibc \(libraries["glibc"] ?? "")\n")
            #expect(try tool("sqlite3", "--version").hasPrefix("\(libraries["sqlite"] ?? "") "))
        }
    }

    @Test("An error of the output is reported")
    func full() throws {
        let finished = try RunningProgram(["bash", "-c", #""$0" --version --json > /dev/full"#, pingferryPath]).finish()
        #expect(finished.status == 74)
        #expect(finished.errors.hasPrefix("pingferry: "))
    }
}
