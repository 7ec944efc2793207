/// The numbers of events of a file by what became of them.
struct SiftCounts {
    /// Events in the file.
    var pending = 0
    /// Events in requests.
    var emitted = 0
    /// Events of a queue that a batch has too.
    var absorbed = 0
    /// Events that the SDK's own check refuses.
    var skipped = 0
    /// Events that could not be read.
    var lost = 0

    /// The numbers by their names in reports.
    var byName: [String: Int] {
        ["absorbed": absorbed, "emitted": emitted, "lost": lost, "pending": pending, "skipped": skipped]
    }
}
