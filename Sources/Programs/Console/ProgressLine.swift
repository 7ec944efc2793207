import Bytes
import CFiles

/// One line on standard error that says how far long work has come; nothing where standard error is no terminal.
public final class ProgressLine {
    private let isShown: Bool
    private let verb: String
    private let total: Int?
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var shown: ContinuousClock.Instant
    private var bytes = 0
    private var records = 0
    private var isOnScreen = false

    private static let interval = Duration.milliseconds(200)

    /// Begins without a line on the terminal.
    /// - Parameters:
    ///   - verb: what is being done: `reading`.
    ///   - total: how many bytes there are to do; nil if that is not known.
    public init(_ verb: String, total: Int? = nil, isQuiet: Bool) {
        self.verb = verb
        self.total = total
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
        put(
            Self.text(verb, bytes: self.bytes, of: total, records: self.records, seconds: (shown - start) / .seconds(1))
        )
    }

    /// How far the work has come: `verifying: 42%, 120 MB, 60 MB/s`.
    /// - Parameter total: how many bytes there are to do; nil if that is not known.
    static func text(_ verb: String, bytes: Int, of total: Int?, records: Int, seconds: Double) -> String {
        var parts = ["\(bytes / 1_000_000) MB"]
        // What grows while it is read, or was told wrong, is never more than done.
        if let total, total > 0 { parts.insert("\(Int(Double(min(bytes, total)) / Double(total) * 100))%", at: 0) }
        if records > 0 { parts.append("\(records) records") }
        parts.append("\(Int(Double(bytes) / 1_000_000 / max(seconds, 0.001))) MB/s")
        return "\(verb): \(parts.joined(separator: ", "))"
    }

    /// Says what is waited for, in the place of the line.
    public func say(_ text: String) {
        guard isShown else { return }
        put(text.printable)
    }

    /// Says how far work has come that is not counted in bytes, in the place of the line, a few times a second.
    public func update(_ text: @autoclosure () -> String) {
        guard isShown, clock.now - shown >= Self.interval else { return }
        shown = clock.now
        say(text())
    }

    /// Takes the line away.
    public func clear() {
        guard isOnScreen else { return }
        StandardError.put("\r\u{1B}[K")
        cfiles_set_line(cfiles_line_empty)
        isOnScreen = false
    }

    private func put(_ text: String) {
        isOnScreen = true
        // Told first: a signal that comes in between clears a line that is empty.
        cfiles_set_line(cfiles_line_passing)
        StandardError.put("\r\u{1B}[K\(text)")
    }
}
