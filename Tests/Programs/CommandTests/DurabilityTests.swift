import Foundation
import TestSupport
import Testing

/// Tests that a power failure at any moment leaves the old or the new output.
///
/// The system calls of the program are recorded. After each of them, a model of a file system in which only synchronized
/// changes survive shows what would be left. The next run must not remove the only copy, either.
@Suite struct DurabilityTests {
    private let folder: TemporaryFolder
    private let root: String

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        root = try folder.makeFolder("outputs")
    }

    /// The words of a command that writes an output, without the input.
    private static let commands = [
        ["bundle", "-o", "a.tar.zst"], ["bundle", "--volume-size", "4K", "-o", "a.tar.zst"],
        ["convert", "-o", "a.csv"], ["convert", "-o", "a.parquet"], ["convert", "-o", "a.sqlite"],
        ["report", "-o", "a.html"],
    ]

    /// The command with the path of its output in `folder`.
    private func words(_ command: [String], in folder: String, _ input: String) -> [String] {
        [pingferryPath] + Array(command.dropLast()) + ["\(folder)/\(command.last ?? "")", "-q", "--force", input]
    }

    /// The contents of all files in `folder`, by path.
    private func contents(of folder: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for path in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            found["/\(path)"] = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(path)"))
        }
        return found
    }

    @Test(
        "After each system call, the old or the new output survives a power failure",
        .enabled(if: DurableFiles.canTrace, "strace cannot trace here"),
        // Without an exchange of names, it matters only whether the output is a file, several files or a folder.
        arguments: commands.map { ($0, true) } + commands.prefix(3).map { ($0, false) })
    func replacedOutput(command: [String], canExchangeNames: Bool) throws {
        #expect(try RunningProgram(words(command, in: root, sample("shop"))).finish().status == 0)
        let old = try contents(of: root)
        var model = try DurableFiles(of: root)
        // If renameat2 fails with EINVAL, the file system cannot exchange names.
        let injection = canExchangeNames ? [] : ["-e", "inject=renameat2:error=EINVAL"]
        let traced = try RunningProgram(
            ["strace", "-o", folder("log")] + DurableFiles.traceOptions + injection
                + words(command, in: root, sample("webxr"))
        ).finish()
        #expect(traced.status == 0, "\(traced.errors)")
        let new = try contents(of: root)
        let calls = DurableFiles.calls(in: try folder.text("log"))
        var last = model
        for call in calls { last.replay(call) }
        let final = last.files
        #expect(final.keys.sorted() == new.keys.sorted())
        #expect(last.survivors == final)
        var numbers: [DurableFiles.Contents: Data] = [:]
        for (path, contents) in final { numbers[contents] = new[path] }

        var seen: Set<[String: DurableFiles.Contents]> = []
        for (step, call) in calls.enumerated() {
            model.replay(call)
            for state in [model.survivors, model.files] where seen.insert(state).inserted {
                let hasOld = old.keys.allSatisfy { path in state.values.contains(.old(path)) }
                let hasNew = final.allSatisfy { state[$0.key] == $0.value }
                #expect(hasOld || hasNew, "\(step) \(call): \(state)")
                try checkNextRun(command, after: state, old: old, new: new) { contents in
                    if case .old(let path) = contents { return old[path] ?? Data() }
                    return numbers[contents] ?? Data()
                }
            }
        }
        #expect(seen.count > 2)
    }

    @Test(
        "Without renameat2, an output gets its name by a hard link, or the run ends with an error and leaves nothing",
        .enabled(if: DurableFiles.canTrace, "strace cannot trace here"), arguments: [false, true])
    func newOutputWithoutRenaming(canLink: Bool) throws {
        let injections = ["renameat2:error=EINVAL"] + (canLink ? [] : ["linkat:error=EPERM"])
        let finished = try RunningProgram(
            ["strace", "-f", "-qq", "-o", "/dev/null"] + injections.flatMap { ["-e", "inject=\($0)"] }
                + [pingferryPath, "bundle", "-q", "-o", folder("outputs/a.tar.zst"), sample("webxr")]
        ).finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: root)
        guard !canLink else {
            #expect(finished.status == 0 && names == ["a.tar.zst"], "\(finished.errors)")
            #expect(try pingferry("verify", folder("outputs/a.tar.zst")).status == 0)
            return
        }
        #expect(finished.status == 74 && names == [], "\(finished.errors)")
        #expect(finished.errors.contains("cannot rename \(folder("outputs/a.tar.zst")): its file system can neither"))
        #expect(finished.errors.contains("hint: write to another file system"))
    }

    /// Checks that the next run, which cannot read its input, does not remove the only copy of the old or new output.
    private func checkNextRun(
        _ command: [String], after state: [String: DurableFiles.Contents], old: [String: Data], new: [String: Data],
        _ bytes: (DurableFiles.Contents) throws -> Data
    ) throws {
        let next = try folder.makeFolder("next")
        defer { try? FileManager.default.removeItem(atPath: next) }
        try DurableFiles.restore(state, in: next, bytes)
        let failed = try RunningProgram(words(command, in: next, folder("none"))).finish()
        #expect([66, 73].contains(failed.status), "\(failed.errors)")
        let left = try contents(of: next)
        let hasOld = old.values.allSatisfy { left.values.contains($0) }
        let hasNew = new.allSatisfy { left[$0.key] == $0.value }
        #expect(hasOld || hasNew, "\(state), then \(left.keys.sorted())")
        let again = try RunningProgram(words(command, in: next, sample("webxr"))).finish()
        guard again.status == 0 else {
            #expect(again.status == 73 && again.errors.contains("move files named"), "\(again.errors)")
            return
        }
        #expect(try contents(of: next) == new)
    }
}
