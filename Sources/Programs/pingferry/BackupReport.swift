import Bytes
import Capture
import JSONText
import Systems
import Telemetry

/// The description of a backup in the output of a scan, including the data that backups do not contain.
///
/// Source: "iOS backups", section 7.
struct BackupReport {
    private let facts: BackupFacts

    init(_ facts: BackupFacts) { self.facts = facts }

    private var name: String { facts.path.isEmpty ? "." : facts.path }

    /// A line that describes the backup, and a line for each app whose pings are not included in backups.
    var lines: [String] {
        let kind = facts.isEncrypted ? "encrypted backup" : "backup"
        let facts = [kind, self.facts.origin].filter { !$0.isEmpty }.joined(separator: ", ")
        return ["\(name): \(facts)"]
            + self.facts.appsWithoutPings.map {
                "\(name): \($0): its pings are in Library/Caches, which backups do not contain"
            }
    }

    /// Returns a line with the number of backups, and a line for each app whose pings are not included in backups.
    static func summary(of backups: [BackupFacts]) -> [String] {
        let encrypted = backups.count(where: \.isEncrypted)
        let absent = Dictionary(backups.flatMap(\.appsWithoutPings).map { (CapturedText($0), 1) }, uniquingKeysWith: +)
        let apps = absent.sorted { $0.key < $1.key }
        return ["\(Summary.count(backups.count, "backup")), \(encrypted) of them encrypted"]
            + apps.map { app, count in
                let backups = Summary.count(count, "backup")
                return "\(app) in \(backups): its pings are in Library/Caches, which backups do not contain"
            }
    }

    /// A line for each system whose data is never included in backups.
    static let generalLines = Systems.table.all.compactMap(\.stores?.backups?.sentence)

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("absent", strings: facts.appsWithoutPings)
        object.set("format", string: facts.format.rawValue)
        object.set("isEncrypted", boolean: facts.isEncrypted)
        object.set("lastBackup", string: facts.lastBackup)
        object.set("path", string: facts.path)
        object.set("productType", string: facts.productType)
        object.set("productVersion", string: facts.productVersion)
        object.set("snapshotState", string: facts.snapshotState)
        return object
    }
}
