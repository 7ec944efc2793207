import Foundation
import TestSupport
import Testing

/// Tests of bundles in volumes, and messages about invalid volumes.
@Suite struct VolumeCommandTests {
    private let folder: TemporaryFolder
    private let whole: Data
    private var first: String { folder("a.tar.zst.001") }
    private let volumes = ["a.tar.zst.001", "a.tar.zst.002", "a.tar.zst.003"]

    /// Packs all samples in volumes of 4 KiB, and in one file in another folder.
    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("whole")
        let inputs = samples.map(sample)
        _ = try shell(#""$0" bundle -q -o "$@""#, [folder("whole/a.tar.zst")] + inputs)
        whole = try folder.data("whole/a.tar.zst")
        let finished = try shell(
            #""$0" bundle -q --volume-size 4K -o "$@""#, [folder("a.tar.zst")] + inputs)
        #expect(finished.status == 1)
    }

    private func found() -> [String] { folder.names.filter { $0.hasPrefix("a.tar.zst") || $0.hasPrefix(".") } }

    @Test("Joined volumes equal the bundle without the option, and have a list of hashes")
    func contents() throws {
        let names = found()
        #expect(names.last == "a.tar.zst.sha256")
        let joined = try shell(#"cd "$1"; cat a.tar.zst.0*"#, [folder.path])
        #expect(joined.output == whole)
        let sizes = try names.dropLast().map { try folder.data($0).count }
        #expect(sizes.dropLast().allSatisfy { $0 == 4096 })
        #expect(sizes.count == (whole.count + 4095) / 4096 && sizes.count > 2)
        let checked = try shell(#"cd "$1"; sha256sum -c --strict a.tar.zst.sha256"#, [folder.path])
        #expect(checked.lines == names.dropLast().map { "\($0): OK" })
        for name in names {
            let mode = try FileManager.default.attributesOfItem(atPath: folder(name))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("Volumes are deterministic, and summaries list them")
    func summaries() throws {
        let words = ["--volume-size", "4096", "--jobs", "7", "-o", folder("b.tar.zst")]
        let finished = try shell(#""$0" bundle "$@""#, words + samples.map(sample))
        let last = found().dropLast().count
        #expect(
            finished.lines.first?.hasPrefix(
                "wrote \(folder("b.tar.zst.001")) to .00\(last) and \(folder("b.tar.zst.sha256")): ") == true)
        for name in found() {
            let other = try folder.data("b" + name.dropFirst())
            #expect(try folder.data(name) == other || name.hasSuffix(".sha256"))
        }
        let summary = try shell(
            #""$0" bundle --json --force "$@""#, words + samples.map(sample)
        ).json()
        let listed = try #require(summary["volumes"] as? [[String: Any]])
        #expect(summary["output"] as? String == folder("b.tar.zst"))
        #expect(listed.compactMap { $0["path"] as? String } == (1...last).map { folder("b.tar.zst.00\($0)") })
        #expect(listed.compactMap { $0["bytes"] as? Int }.reduce(0, +) == whole.count)
        let list = try folder.text("b.tar.zst.sha256").split(separator: "\n").map { String($0.prefix(64)) }
        #expect(listed.compactMap { $0["sha256"] as? String } == list)
    }

    @Test("Every command accepts the first volume instead of the bundle")
    func everyCommand() throws {
        for words in [
            ["list"], ["list", "--ids"], ["scan"], ["convert", "-q", "-o", "-"],
            ["convert", "-q", "--salvage", "-o", "-"],
        ] {
            let one = try shell(#""$0" "$@""#, words + [folder("whole/a.tar.zst")])
            let split = try shell(#""$0" "$@""#, words + [first])
            #expect(split.status == one.status, "\(words) \(split.errors)")
            #expect(split.text.replacing(first, with: folder("whole/a.tar.zst")) == one.text, "\(words)")
            #expect(!one.output.isEmpty)
        }
        let verified = try pingferry("verify", first)
        #expect(verified.status == 0)
        #expect(verified.lines[1] == "\(found().count - 1) volumes, as listed in \(folder("a.tar.zst.sha256"))")
        #expect(try pingferry("bundle", "-q", "-o", folder("merged.tar.zst"), first).status == 0)
        #expect(try pingferry("verify", folder("merged.tar.zst")).lines.last == verified.lines.last)
        #expect(try pingferry("report", "-q", "-o", folder("page.html"), first).status == 0)
        unlink(folder("a.tar.zst.sha256"))
        let unlisted = try pingferry("verify", first)
        #expect(unlisted.status == 0)
        #expect(unlisted.lines[1] == "\(found().count) volumes, with no list to compare them with")
        // `cat` with the documented pattern would read this file, too.
        try folder.put("", "a.tar.zst.000")
        let zero = try pingferry("verify", first)
        #expect(zero.status == 65)
        #expect(zero.errors.contains("a.tar.zst.000 is not in the list of the volumes"), "\(zero.errors)")
    }

    @Test("Every command names the missing volumes", arguments: [true, false])
    func missingVolumes(hasList: Bool) throws {
        if !hasList { unlink(folder("a.tar.zst.sha256")) }
        for name in [volumes[1], volumes[2]] { unlink(folder(name)) }
        for words in [
            ["verify"], ["list"], ["scan"], ["convert", "-o", folder("x")], ["bundle", "-o", folder("x")],
            ["report", "-o", folder("x")],
        ] {
            let finished = try shell(#""$0" "$@""#, words + [first])
            #expect(finished.status == 66, "\(words)")
            #expect(
                finished.errorLines == [
                    "pingferry: \(first): \(volumes[1]) is missing; \(volumes[2]) is missing",
                    "hint: put all volumes of the bundle into one folder",
                ], "\(words)")
        }
        #expect(!folder.names.contains("x"))
        // Without a list, a missing last volume is unknown until the first volume is read.
        let last = try #require(found().last { $0.hasPrefix("a.tar.zst.0") })
        unlink(hasList ? folder(last) : first)
        let finished = try pingferry("verify", "--json", first)
        #expect(finished.status == 66)
        let result = try #require((try finished.json()["bundles"] as? [[String: Any]])?.first)
        let faults = try #require(result["volumes"] as? [[String: Any]])
        #expect(faults.compactMap { $0["code"] as? String } == ["missing", "missing", "missing"])
        #expect(faults.compactMap { $0["name"] as? String } == (hasList ? [volumes[1], volumes[2], last] : volumes))
    }

    @Test("Every command reports a wrong length with status 65")
    func wrongLengths() throws {
        #expect(truncate(folder(volumes[1]), 4000) == 0)
        for words in [["verify"], ["list"], ["scan"], ["convert", "-o", "-"]] {
            let finished = try shell(#""$0" "$@""#, words + [first])
            #expect(finished.status == 65)
            #expect(finished.output.isEmpty)
            #expect(finished.errorLines.first == "pingferry: \(first): \(volumes[1]) has 4000 bytes, not 4096")
        }
    }

    @Test("Swapped volumes and volumes of another bundle are named")
    func swappedVolumes() throws {
        let finished = try shell(
            #"cd "$1"; mv a.tar.zst.002 x; mv a.tar.zst.003 a.tar.zst.002; mv x a.tar.zst.003; "$0" verify a.tar.zst.001"#,
            [folder.path])
        #expect(finished.status == 65)
        #expect(
            finished.errorLines.first == "pingferry: a.tar.zst.001: \(volumes[1]) has the contents of \(volumes[2]); "
                + "\(volumes[2]) has the contents of \(volumes[1])")
        let other = try shell(
            #"cd "$1"; mv a.tar.zst.002 x; mv a.tar.zst.003 a.tar.zst.002; mv x a.tar.zst.003; "#
                + #"head -c 4096 /dev/zero > a.tar.zst.002; "$0" verify --json a.tar.zst.001"#, [folder.path])
        #expect(other.status == 65)
        let result = try #require((try other.json()["bundles"] as? [[String: Any]])?.first)
        let fault = try #require((result["volumes"] as? [[String: Any]])?.first)
        #expect(fault["code"] as? String == "changed" && fault["name"] as? String == volumes[1])
    }

    @Test("Intact volumes are read, and missing ones are reported")
    func salvage() throws {
        unlink(folder(volumes[1]))
        let finished = try pingferry("convert", "--salvage", "-o", folder("left.ndjson"), first)
        #expect(finished.status == 1)
        #expect(finished.errors.contains(": \(volumes[1]) is missing\n"), "\(finished.errors)")
        #expect(folder.names.contains("left.ndjson"))
    }

    @Test("For other volumes and for the name of the bundle, the message names the first volume")
    func wrongPaths() throws {
        for command in ["verify", "list", "scan"] {
            let second = try pingferry(command, folder(volumes[1]))
            #expect(second.status == 65)
            #expect(
                second.errors
                    == "pingferry: \(folder(volumes[1])): it is not the first volume of a bundle; pass \(first)\n")
            let name = folder("a.tar.zst")
            let split = try pingferry(command, name)
            #expect(split.status == 66)
            #expect(
                split.errors
                    == "pingferry: \(name): there is no such file, but the bundle is split into volumes; pass \(first)\n"
            )
        }
    }

    @Test("A folder with the name of a volume is a capture")
    func folderWithNameOfVolume() throws {
        for name in ["phone.tar.zst.001", "phone.tar.zst.002"] {
            let capture = try folder.copySample("webxr", to: name)
            #expect(try pingferry("scan", capture).lines.last == "6 records (5 uploadable; held: pending-events 1)")
        }
    }

    @Test("Volumes that are replaced cannot be inputs")
    func replacedVolumesAreNotInputs() throws {
        let before = try snapshot(folder.path)
        let finished = try pingferry("bundle", "--force", "--volume-size", "8K", "-o", folder("a.tar.zst"), first)
        #expect(finished.status == 73)
        #expect(finished.errorLines.first == "pingferry: cannot replace \(first): it is part of the input")
        #expect(
            try snapshot(folder.path).filter { $0.value[0] != "folder" } == before.filter { $0.value[0] != "folder" })
    }

    @Test("With --force, all volumes of an older bundle are removed")
    func replacingOlderBundle() throws {
        let words = ["--volume-size", "1M", "-o", folder("a.tar.zst"), sample("webxr")]
        let before = found()
        let refused = try shell(#""$0" bundle "$@""#, words)
        #expect(refused.status == 73)
        #expect(
            refused.errorLines == [
                "pingferry: cannot create \(first): File exists",
                "hint: pass --force to replace it, or choose another name",
            ])
        #expect(found() == before)
        try folder.put("old", "a.tar.zst")
        let replaced = try shell(#""$0" bundle --force "$@""#, words)
        #expect(replaced.lines.first?.hasPrefix("wrote \(first) and \(folder("a.tar.zst.sha256")): 6 records") == true)
        #expect(found() == ["a.tar.zst.001", "a.tar.zst.sha256"])
        #expect(try pingferry("verify", first).lines.contains { $0.hasPrefix("1 volume, as listed in ") })
    }
}
