import Bytes

/// One line on standard error that says how far long work has come; nothing where standard error is no terminal.
public final class ProgressLine {
    private let isShown: Bool
    private let verb: String
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var shown: ContinuousClock.Instant
    private var bytes = 0
    private var records = 0
    private var isOnScreen = false

    private static let interval = Duration.milliseconds(200)

    /// Begins without a line on the terminal.
    /// - Parameter verb: what is being done: `reading`.
    public init(_ verb: String, isQuiet: Bool) {
        self.verb = verb
        isShown = !isQuiet && StandardError.isTerminal
        start = clock.now
        shown = start
    }

    /// Counts work that was done.
    public func add(bytes: Int, records: Int = 0) {
        self.bytes += bytes
        self.records += records
        guard isShown, clock.now - shown >= Self.interval else { return }
        shown = clock.now
        isOnScreen = true
        let seconds = (shown - start) / .seconds(1)
        let rate = Int(Double(self.bytes) / 1_000_000 / max(seconds, 0.001))
        let count = self.records > 0 ? ", \(self.records) records" : ""
        StandardError.put("\r\u{1B}[K\(verb): \(self.bytes / 1_000_000) MB\(count), \(rate) MB/s")
    }

    /// Says what is waited for, in the place of the line.
    public func say(_ text: String) {
        guard isShown else { return }
        isOnScreen = true
        StandardError.put("\r\u{1B}[K\(text.printable)")
    }

    /// Says how far work has come that is not counted in bytes, in the place of the line, a few times a second.
    public func update(_ text: @autoclosure () -> String) {
        guard isShown, clock.now - shown >= Self.interval else { return }
        shown = clock.now
        say(text())
    }

    /// Takes the line away.
    public func clear() {
        if isOnScreen { StandardError.put("\r\u{1B}[K") }
        isOnScreen = false
    }
}
