import Capture

/// How much of what could not be understood is carried along.
///
/// Source: design of the project, section 3: beyond the limits it is reported, and the command ends with status 1.
struct QuarantineLimits {
    /// The most bytes of one entry.
    let fileLimit: Int
    /// The most bytes in all.
    let totalLimit: Int

    /// The entries of the quarantine, with those beyond the limits marked as not stored.
    func apply(to intake: inout Intake) -> [Batch.QuarantineEntry] {
        var entries = intake.quarantined
        var total = 0
        var counted: Set<String> = []
        for index in entries.indices where entries[index].item.isStored {
            let item = entries[index].item
            if counted.contains(item.sha256) { continue }
            if item.size <= fileLimit, total + item.size <= totalLimit {
                total += item.size
                counted.insert(item.sha256)
            } else {
                entries[index].item.isStored = false
                intake.lose("quarantine-limit", "\(item.size) bytes exceed the limit of the quarantine", item)
            }
        }
        return entries
    }
}
