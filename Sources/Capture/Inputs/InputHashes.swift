import Bundle
import Bytes
import Files
import Hashing
import Synchronization
import Telemetry

/// The hashes of the inputs that are single files, computed while the inputs are read.
///
/// ``finish(for:labels:)`` returns descriptions of the inputs for the manifest, which include the hashes. Hashing and
/// reading use the same open files. A final check detects files that changed during that time. The type is a class
/// because hashing starts while inputs are opened and ends when all inputs were read.
///
/// Source: "Bundle", "Inputs".
public final class InputHashes: Sendable {
    private struct Entry {
        let source: ByteSource
        let isReadByName: Bool
        let task: Task<ContentHash, any Error>
    }

    private struct State {
        var entries: [CapturedText: Entry] = [:]
        var streamHashes: [CapturedText: StreamHash] = [:]
    }

    private let limit: JobLimit
    private let state = Mutex(State())

    /// Creates an empty set of hashes, with `limit` as the limit on the number of jobs.
    public init(limit: JobLimit) { self.limit = limit }

    deinit {
        for entry in state.withLock({ $0.entries.values }) { entry.task.cancel() }
    }

    /// Starts hashing the input with the unique label `label`.
    ///
    /// `isReadByName` states whether the input is opened again to be read. In that case, another file may have replaced
    /// it.
    func startHashing(_ source: ByteSource, of label: String, isReadByName: Bool = false) {
        let task = limit.start { try RunningHash.hash(of: source) }
        state.withLock { $0.entries[label] = Entry(source: source, isReadByName: isReadByName, task: task) }
    }

    /// Returns the hash of the standard input, which is updated as the input is read.
    ///
    /// `head` contains the bytes that were already read.
    func startStream(of label: String, head: [UInt8]) -> StreamHash {
        let stream = StreamHash(head: head)
        state.withLock { $0.streamHashes[label] = stream }
        return stream
    }

    /// Waits for all hashes, and checks that the files are unchanged.
    ///
    /// Call this method after all inputs were read. `labels` are the labels of `inputs`, in the same order.
    ///
    /// - Returns: The inputs as described in the manifest, and a problem for each input whose hash is unknown.
    /// - Throws: `FileError` for a file that cannot be read.
    public func finish(
        for inputs: [CaptureInput], labels: [String]
    ) async throws -> (inputs: [BundleInput], problems: [LocatedProblem]) {
        var bundleInputs: [BundleInput] = []
        var problems: [LocatedProblem] = []
        for (input, label) in zip(inputs, labels) {
            let (entry, stream) = state.withLock { ($0.entries[label], $0.streamHashes[label]) }
            var sha256 = stream?.sha256
            if let entry {
                sha256 = try await entry.task.value
                if try !entry.source.isUnchanged(checkingPath: entry.isReadByName) {
                    sha256 = nil
                    problems.append(Self.changedProblem(label))
                }
            }
            if let stream, sha256 == nil { problems.append(Self.trailingBytesProblem(stream, label)) }
            bundleInputs.append(input.manifestEntry(label: label, sha256: sha256))
        }
        return (bundleInputs, problems)
    }

    private static func changedProblem(_ label: String) -> LocatedProblem {
        let problem = Problem("changed", "changed while it was read, so its hash is unknown; take the capture again")
        return LocatedProblem(capture: label, path: "", problem: problem)
    }

    private static func trailingBytesProblem(_ stream: StreamHash, _ label: String) -> LocatedProblem {
        let text =
            "more than \(StreamHash.trailingByteLimit >> 20) MiB follow the end of the archive, so its hash is unknown"
        return LocatedProblem(capture: label, path: "", problem: Problem("trailing-bytes", text))
    }
}

extension CaptureInput {
    fileprivate func manifestEntry(label: String, sha256: ContentHash?) -> BundleInput {
        switch self {
        case .folder(let capture): BundleInput(kind: capture.kind, label: label, sha256: sha256)
        case .log: BundleInput(kind: .log, label: label, sha256: sha256)
        case .bundle(let bundle): BundleInput(bundle: bundle.manifest, label: label)
        // The readable part of a damaged bundle has no valid digest.
        case .salvage: BundleInput(kind: .archive, label: label, sha256: sha256)
        }
    }
}

// MARK: - Streams

/// The hash of the standard input, which is computed while the input is read.
public final class StreamHash: Sendable {
    private let hash = RunningHash()
    private let isComplete = Mutex(false)

    /// The maximum number of bytes after the end of an archive, such as the padding that tapes and pipes add.
    fileprivate static let trailingByteLimit = 1 << 30
    private static let pieceSize = 1 << 20

    init(head: [UInt8]) { hash.update(head.span) }

    func update(_ bytes: Span<UInt8>) { hash.update(bytes) }

    /// Reads and hashes the bytes after the end of the archive, up to the limit, because they are part of the input.
    func readRest() throws(FileError) {
        var left = Self.trailingByteLimit
        while left > 0 {
            let bytes = try [UInt8](capacity: min(Self.pieceSize, left)) { output throws(FileError) in
                _ = try StandardInput.read(into: &output)
            }
            guard !bytes.isEmpty else { return isComplete.withLock { $0 = true } }
            update(bytes.span)
            left -= bytes.count
        }
    }

    var sha256: ContentHash? {
        isComplete.withLock { $0 } ? hash.value : nil
    }
}
