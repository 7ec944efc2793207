import Bundle
import Files
import Hashing
import Parallel
import Synchronization
import Telemetry

/// Hashes those inputs of a command that are one file each, on other threads while they are read, and says of all inputs
/// what a manifest tells of them.
///
/// What is read and what is hashed is one open file; that it did not change between the two is checked at the end. What a
/// class is for: hashes begin while inputs are opened, and are asked for when all of them have been read.
///
/// Source: "Bundle", "Inputs".
public final class InputHashes: Sendable {
    private struct Entry {
        let source: ByteSource
        let isReadByName: Bool
        let task: Task<ContentHash, any Error>
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var streams: [String: StreamHash] = [:]
    }

    private let limit: JobLimit
    private let state = Mutex(State())

    /// Begins with no hash. The work counts against `limit`.
    public init(limit: JobLimit) { self.limit = limit }

    deinit {
        for entry in state.withLock({ $0.entries.values }) { entry.task.cancel() }
    }

    /// Begins to hash the input with a label, which is unique in a command.
    /// - Parameter isReadByName: Whether the input is opened again to be read, so that another file may have replaced it.
    func begin(_ source: ByteSource, of label: String, isReadByName: Bool = false) {
        let task = limit.start { try RunningHash.value(of: source) }
        state.withLock { $0.entries[label] = Entry(source: source, isReadByName: isReadByName, task: task) }
    }

    /// Returns the hash of the standard input, of which `head` was read. It is updated as an archive is read.
    func stream(of label: String, head: [UInt8]) -> StreamHash {
        let stream = StreamHash(head: head)
        state.withLock { $0.streams[label] = stream }
        return stream
    }

    /// Waits for the hashes of all inputs of the command, once everything has been read.
    /// - Returns: The inputs as the manifest lists them, and the problems of those without a hash.
    /// - Throws: `FileError` for a file that cannot be read.
    public func account(
        for inputs: [CaptureInput], labels: [String]
    ) async throws -> (inputs: [GivenInput], problems: [PlacedProblem]) {
        var given: [GivenInput] = []
        var problems: [PlacedProblem] = []
        for (input, label) in zip(inputs, labels) {
            let (entry, stream) = state.withLock { ($0.entries[label], $0.streams[label]) }
            var sha256 = stream?.sha256
            if let entry {
                sha256 = try await entry.task.value
                if try !entry.source.isUnchanged(isAtItsPath: entry.isReadByName) {
                    sha256 = nil
                    problems.append(Self.changed(label))
                }
            }
            if let stream, sha256 == nil { problems.append(Self.endless(stream, label)) }
            given.append(input.given(label: label, sha256: sha256))
        }
        return (given, problems)
    }

    private static func changed(_ label: String) -> PlacedProblem {
        let problem = Problem("changed", "changed while it was read; its hash is not told; take the capture again")
        return PlacedProblem(capture: label, path: "", problem: problem)
    }

    private static func endless(_ stream: StreamHash, _ label: String) -> PlacedProblem {
        let text = "more than \(StreamHash.mostTrailing >> 20) MiB follow the end of the archive; its hash is not told"
        return PlacedProblem(capture: label, path: "", problem: Problem("trailing-bytes", text))
    }
}

extension CaptureInput {
    /// What a manifest says of the input.
    fileprivate func given(label: String, sha256: ContentHash?) -> GivenInput {
        switch self {
        case .folder(let capture): GivenInput(kind: capture.kind, label: label, sha256: sha256)
        case .log: GivenInput(kind: .log, label: label, sha256: sha256)
        case .bundle(let bundle): GivenInput(bundle: bundle.manifest, label: label)
        // What is left of a bundle has no digest that holds.
        case .salvage: GivenInput(kind: .archive, label: label, sha256: sha256)
        }
    }
}
