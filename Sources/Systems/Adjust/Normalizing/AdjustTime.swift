import Bytes
import Telemetry

extension Timestamp {
    /// Creates an instant from a time such as `2017-03-20T10:53:20.418Z+0200`.
    ///
    /// The letter `Z` has no meaning, and the offset from UTC counts. Returns `nil` for any other form, and for
    /// instants before 2011 or after 2199.
    ///
    /// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 4.2.
    init?(adjust text: Span<UInt8>) {
        // A fraction has at most nine digits.
        guard (25...35).contains(text.count) else { return nil }
        let zone = text.count - 6
        guard text[10] == UInt8(ascii: "T"), text[zone] == UInt8(ascii: "Z"),
            // Seconds from 60 on are rejected here, because RFC 3339 allows leap seconds.
            text[17] != UInt8(ascii: "6")
        else { return nil }
        var rfc3339 = text.extracting(..<zone).copied()
        rfc3339.append(copying: text.extracting((zone + 1)..<(zone + 4)))
        rfc3339.append(UInt8(ascii: ":"))
        rfc3339.append(copying: text.extracting((zone + 4)...))
        self.init(rfc3339: rfc3339.span)
        guard isPlausible else { return nil }
    }

    /// The instant as the SDK writes it, in UTC.
    var adjustText: String { description + "+0000" }
}
