import Bundle
import Foundation
import TestSupport
import Testing

/// Tests jobs with bundles in volumes.
@Suite struct VolumeJobTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private var common: [String] { ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone] }
    private var first: String { folder("a.tar.zst.001") }

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        let records = (0..<300).map { Sample.ping($0, client: "C-\($0)") }
        let path = try await Sample.bundle(records, at: folder("whole"))
        var writer = try VolumeWriter(
            path: folder("a.tar.zst"), size: try #require(VolumeSize(text: "4K")), replacing: false)
        try writer.write(Array(try Data(contentsOf: URL(fileURLWithPath: path))).span)
        #expect(try writer.commit().count > 1)
        unlink(path)
        try folder.makeFolder("done")
    }

    private func job(_ arguments: String...) async throws -> FinishedProgram {
        try await Uploader(["send", "--endpoint", "mozilla=\(server.address)"] + arguments + common).finish()
    }

    private func names(in name: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder(name)).filter { $0.hasPrefix("a.") }.sorted()
    }

    @Test("All records are sent, and all volumes are moved with their list")
    func sentVolumes() async throws {
        let before = try names()
        let plan = try await job("--dry-run", "--json", first)
        #expect(plan.status == 0, "\(plan.errors)")
        let finished = try await job("--move-done", folder("done"), first)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.last == "done: moved to \(folder("done"))/a.tar.zst.001")
        #expect(try await server.report().total == 300)
        #expect(try names() == [])
        #expect(try names(in: "done") == before)
        let status = try await Uploader(["status", folder("done/a.tar.zst.001")] + common).finish()
        #expect(status.status == 0, "\(status.errors)")
    }

    @Test("Volumes are moved to a numbered folder if a file with the same name exists")
    func nameConflict() async throws {
        let before = try names()
        try folder.put("mine", "done/\(try #require(before.last))")
        let finished = try await job("--move-done", folder("done"), first)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.last == "done: moved to \(folder("done"))/a.tar.zst.2/a.tar.zst.001")
        #expect(try names(in: "done/a.tar.zst.2") == before)
        let status = try await Uploader(["status", folder("done/a.tar.zst.2/a.tar.zst.001")] + common).finish()
        #expect(status.status == 0, "\(status.errors)")
    }

    @Test("If one volume cannot be moved, none is moved")
    func failedMove() async throws {
        let before = try names()
        let last = try #require(before.last { $0 != "a.tar.zst.sha256" })
        try folder.put("mine", "done/\(last)")
        try folder.put("no folder", "done/a.tar.zst.2")
        let finished = try await job("--move-done", folder("done"), first)
        #expect(finished.status == 73)
        #expect(finished.errors.contains("Not a directory"), "\(finished.errors)")
        #expect(try names() == before)
        #expect(try names(in: "done") == [last, "a.tar.zst.2"].sorted())
    }

    @Test("Nothing is sent while a volume is missing or damaged, and the volume is named")
    func missingVolume() async throws {
        let second = folder("a.tar.zst.002")
        var bytes = try folder.data("a.tar.zst.002")
        unlink(second)
        let missing = try await job(first)
        #expect(missing.status == 66)
        #expect(missing.errorLines.first == "pingferry-upload: \(first): a.tar.zst.002 is missing")
        bytes[bytes.startIndex] ^= 1
        try bytes.write(to: URL(fileURLWithPath: second))
        for words in [["send"], ["status"]] {
            let damaged = try await Uploader(words + [first] + common).finish()
            #expect(damaged.status == 65 || words == ["status"])
            #expect(damaged.errors.contains("a.tar.zst.002 is damaged or belongs to another") || words == ["status"])
        }
        #expect(try await server.report().total == 0)
    }

    @Test("Standard input is rejected, because a job reads its bundles repeatedly")
    func standardInput() async throws {
        for words in [["send", "-"], ["status", "-"], ["--dry-run", "-"]] {
            let finished = try await Uploader(words + common).finish()
            #expect(finished.status == 64, "\(words)")
            #expect(finished.errors.contains("cannot be read from standard input"))
        }
    }
}
