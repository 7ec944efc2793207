import Capture
import JSONText
import Systems
import Telemetry

/// What a scan tells of a backup: what it is, and what no backup can hold.
///
/// Source: "iOS backups", section 7.
struct BackupReport {
    private let facts: BackupFacts

    init(_ facts: BackupFacts) {
        self.facts = facts
    }

    private var name: String { facts.path.isEmpty ? "." : facts.path }

    /// A line for the backup, and one for each app in it whose pings no backup holds.
    var lines: [String] {
        let kind = facts.isEncrypted ? "encrypted backup" : "backup"
        let facts = [kind, self.facts.origin].filter { !$0.isEmpty }.joined(separator: ", ")
        return ["\(name): \(facts)"]
            + self.facts.absent.map { "\(name): \($0): its pings lie in Library/Caches, which no backup holds" }
    }

    /// The same of many backups: how many there are, and in how many of them are apps whose pings no backup holds.
    static func summary(of backups: [BackupFacts]) -> [String] {
        let encrypted = backups.count(where: \.isEncrypted)
        let absent = Dictionary(backups.flatMap(\.absent).map { ($0, 1) }, uniquingKeysWith: +)
        let apps = absent.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return ["\(Summary.count(backups.count, "backup")), \(encrypted) of them encrypted"]
            + apps.map { app, count in
                "\(app) in \(Summary.count(count, "backup")): its pings lie in Library/Caches, which no backup holds"
            }
    }

    /// What no backup ever holds, whatever is in it.
    static let generalLines = Systems.table.all.compactMap(\.stores?.backups?.sentence)

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("absent", strings: facts.absent)
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
