import DeviceBackup
import Files

/// The rows of a manifest in either format.
///
/// The rows can be read several times. Only one row is in memory at a time.
enum ManifestRows {
    case database(ManifestDatabase)
    case binary(ByteSource)

    static let rowLimit = 5_000_000

    enum End: Equatable {
        case complete
        /// Rows are missing because of damage or the limit.
        ///
        /// The values are a case ID from "iOS backups", section 10, and a description.
        case incomplete(caseID: String, text: String)
    }

    /// Calls `body` with each row, in order, and returns whether the rows are complete.
    ///
    /// - Throws: ``BackupError`` if the manifest has an unknown version, contains no complete record or cannot be read,
    ///   and the errors of `body`.
    func forEach(_ body: (ManifestRow) throws(BackupError) -> Void) throws(BackupError) -> End {
        switch self {
        case .database(let database): try Self.read(database, body)
        case .binary(let source): try Self.read(source, body)
        }
    }

    private static let tooManyRows = End.incomplete(
        caseID: "B34", text: "the manifest has more than \(rowLimit) rows; the remaining rows are not read")

    private static func read(
        _ database: ManifestDatabase, _ body: (ManifestRow) throws(BackupError) -> Void
    ) throws(BackupError) -> End {
        var count = 0
        let damage = try database.forEachRow { row throws(BackupError) in
            count += 1
            guard count <= rowLimit else { return false }
            try body(row)
            return true
        }
        guard count <= rowLimit else { return tooManyRows }
        if let damage {
            return .incomplete(caseID: "B34", text: "the manifest is damaged after \(count) rows: \(damage)")
        }
        return database.logFault.map { .incomplete(caseID: "B34", text: "the manifest: \($0)") } ?? .complete
    }

    private static func read(
        _ source: ByteSource, _ body: (ManifestRow) throws(BackupError) -> Void
    ) throws(BackupError) -> End {
        var manifest = BinaryManifest()
        var offset = 0
        var count = 0
        while true {
            switch manifest.next() {
            case .row(let row):
                count += 1
                guard count <= rowLimit else { return tooManyRows }
                try body(row)
            case .notAManifest: throw BackupError("B44", "Manifest.mbdb has an unknown version")
            case .needsMore:
                let piece = try Self.piece(of: source, at: offset)
                guard piece.isEmpty else {
                    offset += piece.count
                    manifest.feed(piece)
                    continue
                }
                guard manifest.hasIncompleteRecord else { return .complete }
                guard count > 0 else { throw BackupError("B44", "Manifest.mbdb has no complete record") }
                return .incomplete(
                    caseID: "B44",
                    text: "Manifest.mbdb is truncated or damaged after \(count) records; later records are lost")
            }
        }
    }

    private static func piece(of source: ByteSource, at offset: Int) throws(BackupError) -> [UInt8] {
        guard offset < source.count else { return [] }
        return try BackupError.wrapping { () throws(FileError) in
            try source.bytes(at: offset, count: min(1 << 20, source.count - offset))
        }
    }
}
