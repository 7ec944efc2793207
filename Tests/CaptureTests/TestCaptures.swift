import Capture
import Files
import Systems
import Telemetry

// Shortcuts that create captures, logs and options with the table of the known systems.

extension CapturedFolder {
    /// Searches a folder for stores of the known systems.
    convenience init(
        path: String, label: String, excluding excluded: Set<FileIdentity> = [], spool: Spool = Spool(),
        limit: JobLimit = JobLimit(jobs: 2)
    ) async throws {
        try await self.init(
            path: path, label: label, systems: Systems.table, excluding: excluded, spool: spool, limit: limit)
    }

    /// Searches an archive for stores of the known systems.
    convenience init(
        archive: ArchiveBytes, path: String, label: String, spool: Spool, limit: JobLimit = JobLimit(jobs: 2)
    ) async throws {
        try await self.init(
            archive: archive, path: path, label: label, systems: Systems.table, spool: spool, limit: limit)
    }

    /// Treats a single store file of the known systems as a capture.
    convenience init?(file path: String, label: String) throws(FileError) {
        try self.init(file: path, label: label, systems: Systems.table)
    }
}

extension RequestLog {
    /// Creates a log of requests to the known systems.
    init(_ source: ByteSource, kind: RequestLogKind, label: String, path: String, itemLimit: Int = 32 << 20) {
        self.init(
            source, kind: kind, label: label, path: path, systems: Systems.table, itemLimit: itemLimit)
    }
}

extension RequestLogKind {
    /// Detects the format of a log of requests to the known systems.
    init?(_ source: ByteSource, named name: String?) throws(FileError) {
        try self.init(source, named: name, Systems.table)
    }
}

extension CaptureReader {
    /// Creates a reader of inputs whose paths do not matter.
    init(_ inputs: [CaptureInput], options: ScanOptions = ScanOptions(), jobs: Int = 2) {
        self.init(inputs, paths: inputs.map { _ in "input" }, options: options, limit: JobLimit(jobs: jobs))
    }
}

extension ScanOutput {
    /// Creates an output that writes records as lines.
    init(writingFor input: Int = 0) { self.init(capture: "phone", input: input, writingWith: ScanOptions()) }
}
