import Foundation
import TestSupport
import Testing

/// Tests that all volumes of a bundle appear or none, also after errors and signals.
@Suite struct VolumeFailureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test("Invalid sizes are rejected", arguments: ["0", "4095", "3K", "x", "1T", "-1"])
    func sizes(text: String) throws {
        let finished = try pingferry("bundle", "--volume-size=\(text)", "-o", folder("out"), sample("webxr"))
        #expect(finished.status == 64)
        #expect(finished.errors.contains("at least 4K"))
        #expect(folder.names == [])
    }

    @Test("Volumes are not written to standard output or a pipe")
    func pipes() throws {
        for output in ["-", "/dev/stdout"] {
            let finished = try pingferry("bundle", "--volume-size", "4K", "-o", output, sample("webxr"))
            #expect(finished.status == 64)
            #expect(finished.output.isEmpty)
        }
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let finished = try pingferry("bundle", "--volume-size", "4K", "-o", folder("pipe"), sample("webxr"))
        #expect(finished.status == 73)
        #expect(finished.errors == "pingferry: cannot replace \(folder("pipe")): it is not a regular file\n")
    }

    /// Returns the path of a request log that hardly compresses.
    ///
    /// A bundle of 3,000 records has more than 4 MB.
    private func noise(records: Int = 3000) throws -> String {
        let folder = try SharedCaptures.generated("make_noise.py", ["--records", "\(records)"])
        return "\(folder)/many.ndjson"
    }

    @Test("More than 999 volumes are rejected as soon as possible, and no files remain")
    func tooManyVolumes() throws {
        let noise = try noise()
        let finished = try pingferry("bundle", "--volume-size", "4K", "-o", folder("out"), noise)
        #expect(finished.status == 73, "\(finished.errors.prefix(300))")
        #expect(
            finished.errors
                == "pingferry: cannot create \(folder("out.1000")): a bundle can have at most 999 volumes; use a larger --volume-size\n"
        )
        #expect(folder.names == [])
    }

    @Test("Hundreds of volumes are read with a low limit of open files")
    func manyVolumes() throws {
        let noise = try noise()
        #expect(try pingferry("bundle", "-q", "--volume-size", "8K", "-o", folder("out"), noise).status == 0)
        #expect(folder.names.contains("out.500"))
        let finished = try shell(#"ulimit -Sn 64; "$0" verify "$1""#, [folder("out.001")])
        #expect(finished.status == 0, "\(finished.errors)")
        let limited = try shell(#"ulimit -n 64; "$0" verify "$1""#, [folder("out.001")])
        #expect(limited.status == 74)
        #expect(limited.errors.hasSuffix(": Too many open files\n"), "\(limited.errors)")
    }

    @Test(
        "If the disk is full in the third of five volumes, its contents are unchanged",
        .enabled(if: SmallDisk.isSupported, "only root can mount a file system"), arguments: [false, true])
    func fullDisk(hasOlder: Bool) throws {
        let load = try SharedCaptures.load(pings: 3000)
        #expect(try pingferry("bundle", "-q", "-o", folder("whole"), load).status == 0)
        let size = (try folder.data("whole").count / 5 / 4096 + 1) * 4096
        let disk = try SmallDisk(kibibytes: size * 5 / 2 / 1024)
        if hasOlder {
            #expect(
                try pingferry("bundle", "-q", "--volume-size", "4K", "-o", disk("out"), sample("webxr")).status == 0)
        }
        let before = try snapshot(disk.path)
        let finished = try pingferry("bundle", "--force", "--volume-size", "\(size)", "-o", disk("out"), load)
        #expect(finished.status == 74)
        let message = "pingferry: cannot write \(disk("out.003")): No space left on device"
        #expect(finished.errorLines.first == message || hasOlder, "\(finished.errors)")
        #expect(finished.errorLines.first?.hasSuffix("No space left on device") == true)
        #expect(try snapshot(disk.path) == before)
        // With enough space, the bundle is written.
        try disk.enlarge(kibibytes: size * 10 / 1024)
        #expect(
            try pingferry("bundle", "-q", "--force", "--volume-size", "\(size)", "-o", disk("out"), load).status == 0)
        let joined = try shell(#"cat "$1".0*"#, [disk("out")]).output
        #expect(joined == (try folder.data("whole")))
        #expect(disk.names == (1...5).map { "out.00\($0)" } + ["out.sha256"])
    }

    @Test("No files remain after a signal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signals(number: Int32) throws {
        // The first segments are written while the others are still being compressed at the highest level.
        let noise = try noise(records: 6_000)
        let finished = try interruptedRun(
            ["bundle", "--level", "19", "--jobs", "1", "--volume-size", "64K", noise], writing: folder("out"),
            by: number,
            whenFileAt: folder(".out.volumes.partial/out.002"), has: 0)
        #expect(finished.status == 128 + number)
        #expect(finished.errors == "pingferry: interrupted; nothing was written to \(folder("out"))\n")
        #expect(folder.names == [])
    }

    /// Whether `strace` can kill a program at a system call.
    private static let canTrace =
        (try? RunningProgram(["strace", "-o", "/dev/null", "true"]).finish().status) == 0

    /// The program is killed at each system call that creates or removes a file name.
    @Test(
        "If the program is killed, a first volume never remains without the others",
        .enabled(if: canTrace, "strace cannot trace here"), arguments: ["renameat", "renameat2", "unlinkat"],
        [false, true])
    func killedRun(call: String, hasOlder: Bool) throws {
        let older = ["--volume-size", "4K", "-o", folder("out"), sample("damaged"), sample("focus"), sample("shop")]
        let newer = ["--force", "--volume-size", "4K", "-o", folder("out"), sample("webxr"), sample("shop")]
        var steps = 0
        while true {
            steps += 1
            _ = try tool("find", folder.path, "-mindepth", "1", "-delete")
            if hasOlder { _ = try shell(#""$0" bundle -q "$@""#, older) }
            let before = try pingferry("verify", folder("out.001"))
            let trace = [
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                "inject=\(call):signal=KILL:when=\(steps)", pingferryPath, "bundle", "-q",
            ]
            let status = try RunningProgram(trace + newer).finish().status
            let read = try pingferry("verify", folder("out.001"))
            guard status == 128 + SIGKILL else {
                #expect(status == 0 && read.status == 0)
                break
            }
            let rest = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            if rest.contains("out.001") {
                // Either all old volumes exist, or all new volumes and their list.
                let matchesList = read.status == 0 && read.lines[1].contains(", as listed in ")
                #expect(matchesList, "\(call) \(steps): \(read.errors)")
                #expect((read.text == before.text) == rest.contains(".out.volumes.partial/out.001"))
            } else {
                #expect(read.status == 66, "\(call) \(steps): \(read.errors)")
            }
            let again = try shell(#""$0" bundle -q "$@""#, newer)
            // The old volumes are not removed before the new ones are complete.
            if hasOlder, !rest.contains("out.001") {
                #expect(again.status == 73)
                #expect(again.errors.contains("move files named ….former to their old names"))
            } else {
                #expect(again.status == 0, "\(call) \(steps): \(again.errors)")
                #expect(try pingferry("verify", folder("out.001")).status == 0)
                #expect(!folder.names.contains(".out.volumes.partial"))
            }
        }
        #expect(steps > 1 || (call == "renameat" && !hasOlder), "it was never killed")
    }
}
