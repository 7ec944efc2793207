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

    @Test("-V prints the version, and -h fewer lines than --help", arguments: ["pingferry", "pingferry-upload"])
    func shortOptions(program: String) throws {
        let path = builtProgram(program)
        #expect(try tool(path, "-V") == tool(path, "--version"))
        let commands = program == "pingferry" ? ["bundle", "scan"] : ["send", "status"]
        for command in commands {
            let (short, long) = (try tool(path, command, "-h"), try tool(path, command, "--help"))
            #expect(2 * short.split(separator: "\n").count < long.split(separator: "\n").count)
            let options = long.matches(of: #/\n  (-\w, )?(--[a-z-]+)/#).map(\.output.2)
            #expect(!options.isEmpty && options.allSatisfy(short.contains))
        }
    }

    @Test("An error of the output is reported")
    func full() throws {
        let finished = try RunningProgram(["bash", "-c", #""$0" --version --json > /dev/full"#, pingferryPath]).finish()
        #expect(finished.status == 74)
        #expect(finished.errors.hasPrefix("pingferry: "))
    }
}
