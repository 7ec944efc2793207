import Bytes
import CLibrary
import Files
import JSONText
import Synchronization

/// The standard error stream, to which a program writes its messages.
public enum StandardError {
    private static let format = Mutex(Format.text)
    /// A function that returns the current time for each line, or `nil` if lines have no time.
    private static let clock = Mutex<(@Sendable () -> String)?>(nil)
    /// The descriptor for messages that cannot be written to the file of ``append(toFile:clock:)``.
    private static let fallback = Mutex<Int32?>(nil)
    /// Whether only a part of the last line was written, because the disk is full.
    private static let isLastLineCut = Mutex(false)
    /// Whether systemd's journal receives the messages, so that a line can begin with its priority.
    private static let isJournal = isJournal(STDERR_FILENO)

    /// The importance of a message, as a number of syslog.
    ///
    /// Source: sd-daemon(3).
    public enum Priority: Int {
        case error = 3
        case warning = 4
        case notice = 5
        case information = 6

        /// The beginning of a line for systemd's journal.
        public var prefix: String { "<\(rawValue)>" }
    }

    /// The format in which messages are written.
    public enum Format: Sendable {
        /// One line of text for each message.
        case text
        /// One line of canonical JSON for each message and nothing else, for logs that programs read.
        case json
    }

    /// Sets the format of all following messages.
    public static func setFormat(_ format: Format) { self.format.withLock { $0 = format } }

    /// The format in which messages are written.
    public static var currentFormat: Format { format.withLock(\.self) }

    /// Whether messages are text and standard error is a terminal, so that progress can be shown.
    public static var isTerminal: Bool { currentFormat == .text && isatty(STDERR_FILENO) == 1 }

    /// Appends all following messages to a file, each with the time that `clock` returns.
    ///
    /// The file is created with permissions 0600. If it cannot be created because the disk is full, nothing changes.
    /// Messages that cannot be written to it are written to the previous standard error.
    ///
    /// - Throws: `FileError` if the file cannot be opened, or `CommandError` if it has contents that are not a log.
    public static func append(toFile path: String, clock: @escaping @Sendable () -> String) throws {
        let previous: Int32
        do {
            previous = try descriptor(appendingTo: path)
        } catch let error as FileError where error.isDiskFull {
            return write("\(error), so that messages are written here")
        }
        fallback.withLock { $0 = previous }
        self.clock.withLock { $0 = clock }
    }

    private static func descriptor(appendingTo path: String) throws -> Int32 {
        try StandardDescriptors.appendErrors(to: path) { head in
            // A log begins with a time or, with --log-json, with an object.
            let isLog =
                head.isEmpty || head.first == UInt8(ascii: "{")
                || head.first?.isDigit == true && head.count > 4
                    && head[4] == UInt8(ascii: "-")
            guard !isLog else { return }
            throw CommandError(
                status: .cannotCreate, message: "cannot append to \(path): it does not contain a log",
                remedy: "remove the file, or give another name with --log-file")
        }
    }

    /// Returns whether a descriptor is the stream to systemd's journal that the environment names.
    ///
    /// Source: systemd.exec(5), `$JOURNAL_STREAM`.
    static func isJournal(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(descriptor, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes a message of one line, with unprintable characters escaped.
    public static func write(_ line: String, _ priority: Priority = .warning) {
        switch currentFormat {
        case .text:
            let time = clock.withLock { $0?() }
            writeAll((time.map { "\($0) " } ?? (isJournal ? priority.prefix : "")) + line.printable + "\n")
        case .json:
            write(json: (["message": line] as CanonicalObject).bytes)
        }
    }

    /// Writes a message of several lines, such as a usage error.
    public static func write(lines: String) {
        switch currentFormat {
        case .text: writeAll(lines.printableLines + "\n")
        case .json: write(lines)
        }
    }

    /// Writes a line of JSON, with unprintable characters escaped because standard error may be a terminal.
    public static func write(json: [UInt8]) {
        writeAll(String(decoding: PrintableJSON.rewriting(json), as: UTF8.self) + "\n")
    }

    /// Writes text unchanged.
    ///
    /// Errors of the last descriptor are ignored, because there is no other place to report them.
    static func writeAll(_ text: String) {
        isLastLineCut.withLock { isCut in
            let line = isCut ? "\n\(text)" : text
            let count = writeAll(line, to: STDERR_FILENO)
            guard count < line.utf8.count else { return isCut = false }
            isCut = isCut || count > 0
            if let fallback = fallback.withLock(\.self) { writeAll(text, to: fallback) }
        }
    }

    /// Writes text to a descriptor, and returns the number of bytes that were written.
    @discardableResult
    private static func writeAll(_ text: String, to descriptor: Int32) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = CLibrary.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { break }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(count, 0)...])
            }
            return bytes.count - rest.count
        }
    }
}
