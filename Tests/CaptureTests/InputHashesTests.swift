import Bundle
import Capture
import Files
import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests of the description of inputs in a manifest: their kinds, and the hashes of single files.
@Suite struct InputHashesTests {
    let folder: CaptureFolder

    init() throws {
        folder = try CaptureFolder()
        try folder.put("phone/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("a.har", archive(coreEntry(1)))
    }

    private var ping: String { "phone/\(corePings)/-t-1.json" }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    private func sha256(_ name: String) throws -> String {
        String(try tool("sha256sum", path(name)).prefix(64))
    }

    /// Opens inputs, calls `body`, and returns the description of the inputs.
    private func describe(
        _ names: [String], meanwhile: () throws -> Void = {}
    ) async throws -> (inputs: [BundleInput], problems: [LocatedProblem]) {
        let limit = JobLimit(jobs: 2)
        let hashes = InputHashes(limit: limit)
        let opening = InputOpener(systems: Systems.table, limit: limit, spool: Spool(), hashes: hashes)
        let paths = names.map(path)
        let inputs = try await opening.open(paths)
        try meanwhile()
        return try await hashes.finish(for: inputs, labels: opening.labels(ofPaths: paths))
    }

    @Test("Folders, archives, logs, store files and bundles are described by their kinds")
    func kinds() async throws {
        try tool("tar", "-czf", path("phone.tgz"), "-C", folder.path, "phone")
        try await Sample.bundle([Sample.leanplum(["{}"])], at: path("old.tar.zst"))
        let names = ["phone", "phone.tgz", "a.har", ping, "old.tar.zst"]
        let (inputs, problems) = try await describe(names)
        #expect(problems.isEmpty)
        #expect(inputs.map(\.kind) == [.folder, .archive, .log, .store, .bundle])
        #expect(inputs.map(\.label) == ["phone", "phone.tgz", "a.har", "-t-1.json", "old.tar.zst"])
        let hashes = try [nil, sha256("phone.tgz"), sha256("a.har"), sha256(ping), nil]
        #expect(inputs.map { $0.sha256?.hex } == hashes)
        let digest = try BundleReader(path: path("old.tar.zst"), knowing: Systems.table).manifest.digest
        #expect(inputs.map { $0.digest?.hex } == [nil, nil, nil, nil, digest])
        #expect(inputs.map { $0.inputs?.entries.count } == [nil, nil, nil, nil, 0])
    }

    /// Changes the modification time of a file, because a test may write too fast to change it.
    private func touch(_ name: String) throws {
        try tool("touch", "-d", "2001-01-01", path(name))
    }

    @Test("A file that was modified is reported and has no hash", arguments: ["a.har", "phone.tar", "ping"])
    func changed(name: String) async throws {
        try tool("tar", "-cf", path("phone.tar"), "-C", folder.path, "phone")
        let name = name == "ping" ? ping : name
        // First with the same size, then with another size and the same time.
        for change in [{ try touch(name) }, { try tool("bash", "-c", "printf x >> '\(path(name))'") }] {
            let (inputs, problems) = try await describe([name]) { _ = try change() }
            #expect(inputs.map(\.sha256) == [nil])
            #expect(problems.map(\.problem.code) == ["changed"])
            #expect(problems.map(\.capture) == [name.split(separator: "/").last.map(String.init)])
            #expect(problems.allSatisfy { $0.problem.isLoss })
        }
    }

    @Test("A replaced store file is reported, but a log is read from its open file")
    func replaced() async throws {
        try folder.put("other", CaptureFolder.ping(2))
        let hash = try sha256("a.har")
        let (inputs, problems) = try await describe([ping, "a.har"]) {
            try tool("mv", path("other"), path(ping))
            try tool("mv", path("a.har"), path("b.har"))
        }
        #expect(inputs.map { $0.sha256?.hex } == [nil, hash])
        #expect(problems.map(\.capture) == ["-t-1.json"])
    }
}
