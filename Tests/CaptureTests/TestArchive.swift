import Bundle
import Bytes
import Capture
import Files
import Foundation
import TestSupport
import Testing

/// A temporary archive that a test creates.
final class TestArchive: Sendable {
    /// A member in the notation of `make_archive.py`.
    struct Member: Encodable {
        var name = ""
        var text: String?
        var type: String?
        var link: String?
        var size: Int?
        var raw: String?

        static func file(_ name: String, _ text: String) -> Member { Member(name: name, text: text) }

        /// Returns a core ping in its usual folder.
        static func ping(_ number: Int, in folder: String = corePings) -> Member {
            file("\(folder)/-t-\(number).json", CaptureFolder.ping(number))
        }
    }

    private let folder: CaptureFolder
    let path: String

    /// Packs members in the given order.
    ///
    /// `format` is zip, stored (a zip without compression), ustar, gnu or pax.
    init(_ format: String, _ members: [Member], name: String = "capture") throws {
        folder = try CaptureFolder()
        path = "\(folder.path)/\(name).\(["zip", "stored"].contains(format) ? "zip" : "tar")"
        let description = Array(try JSONEncoder().encode(members))
        try tool(["python3", fixture("make_archive.py"), path, format], input: description)
    }

    /// Packs a folder with a shell command that runs in it.
    ///
    /// `$0` is the path of the archive.
    init(of captured: String, named name: String, _ command: String) throws {
        folder = try CaptureFolder()
        path = "\(folder.path)/\(name)"
        try tool(["bash", "-c", "cd \"$1\" && \(command)", path, captured])
    }

    /// Calls `body` to change the bytes of the archive.
    func change(_ body: (inout [UInt8]) -> Void) throws {
        var bytes = try self.bytes
        body(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    var bytes: [UInt8] { get throws { Array(try Data(contentsOf: URL(fileURLWithPath: path))) } }

    func open(
        label: String = "capture", limits: ArchiveLimits = ArchiveLimits(), spoolLimit: Int = 16 << 30
    ) async throws -> CapturedFolder {
        try keepCopy()
        return try await CapturedFolder(
            archive: .source(ByteSource(try InputFile(path: path))), path: path, label: label,
            spool: Spool(byteLimit: spoolLimit, archiveLimits: limits), limit: JobLimit(jobs: 2))
    }

    /// Copies the archive to the folder that the environment variable `PINGFERRY_TEST_ARCHIVES` names.
    ///
    /// `.ci/static-check` reads such a folder with the static program.
    private func keepCopy() throws {
        guard let kept = ProcessInfo.processInfo.environment["PINGFERRY_TEST_ARCHIVES"] else { return }
        try Data(bytes).write(to: URL(fileURLWithPath: "\(kept)/\(UUID().uuidString)"))
    }
}
