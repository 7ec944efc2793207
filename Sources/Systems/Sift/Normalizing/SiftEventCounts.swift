import Bytes

/// The number of events in a file for each result.
struct SiftEventCounts {
    /// The number of events in the file, including events that are omitted.
    var pending = 0
    /// The number of events that were added to requests.
    var emitted = 0
    /// The number of events in a queue that were omitted because a batch also contains them.
    var absorbed = 0
    /// The number of events that the SDK itself would reject.
    var skipped = 0
    /// The number of events that cannot be read.
    var lost = 0

    /// The number of events for each name that is used in reports.
    var byName: [CapturedText: Int] {
        ["absorbed": absorbed, "emitted": emitted, "lost": lost, "pending": pending, "skipped": skipped]
    }
}
