import CivilTime
import JSONText
import Telemetry

/// Reads the times of pings: a date, perhaps with hours, minutes, seconds and up to nine digits of a fraction, and always an
/// offset from UTC.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.1, cases G43 and G44.
struct PingTime {
    private let text: [UInt8]
    private var place = 0

    /// The instant that a text tells, cut to milliseconds; nil if it is none, or lies outside the years of RFC 3339.
    static func timestamp(_ text: Span<UInt8>) -> Timestamp? {
        // The longest form has 35 bytes.
        guard text.count <= 35 else { return nil }
        var reading = PingTime(text: text.copied())
        return reading.milliseconds().flatMap { Timestamp(inAnyYear: $0) }
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func milliseconds() -> Int64? {
        guard let year = number(digits: 4), take("-"), let month = number(digits: 2), take("-"),
            let day = number(digits: 2), let date = CivilDate(year: year, month: month, day: day),
            let time = timeOfDay(), let offset = minutesEast(), place == text.count
        else { return nil }
        return (Int64(date.daysSinceEpoch) * 1440 - Int64(offset)) * 60_000 + Int64(time)
    }

    /// Milliseconds since midnight; 0 where only the day is told.
    private mutating func timeOfDay() -> Int? {
        guard take("T") else { return 0 }
        guard let hour = number(digits: 2), hour < 24 else { return nil }
        var milliseconds = hour * 3_600_000
        guard take(":") else { return milliseconds }
        guard let minute = number(digits: 2), minute < 60 else { return nil }
        milliseconds += minute * 60_000
        guard take(":") else { return milliseconds }
        guard let second = number(digits: 2), second < 60 else { return nil }
        milliseconds += second * 1000
        guard take(".") else { return milliseconds }
        return fraction().map { milliseconds + $0 }
    }

    /// Milliseconds of one to nine digits, cut.
    private mutating func fraction() -> Int? {
        var digits = 0
        var milliseconds = 0
        while place < text.count, text[place].isDigit {
            if digits < 3 { milliseconds = milliseconds * 10 + Int(text[place] & 0xF) }
            digits += 1
            place += 1
        }
        guard (1...9).contains(digits) else { return nil }
        for _ in digits..<max(digits, 3) { milliseconds *= 10 }
        return milliseconds
    }

    private mutating func minutesEast() -> Int? {
        if take("Z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(digits: 2), hours < 24, take(":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }

    private mutating func number(digits: Int) -> Int? {
        guard place + digits <= text.count else { return nil }
        var number = 0
        for byte in text[place..<place + digits] {
            guard byte.isDigit else { return nil }
            number = number * 10 + Int(byte & 0xF)
        }
        place += digits
        return number
    }

    private mutating func take(_ character: Character) -> Bool {
        guard place < text.count, text[place] == character.asciiValue else { return false }
        place += 1
        return true
    }
}
