import CLibrary
import Files
import Synchronization
import Telemetry

/// The system clock, which can be wrong and can be changed at any time.
public enum SystemClock {
    /// The current time.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(clamping: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// The time zones that are installed on this system.
public enum SystemTimezone {
    private static let secondsPerDay = 86_400
    /// The range of times that is searched for UTC offset changes, in seconds since 1970: the years 2000 to 2099.
    private static let searchedPeriod = (first: 10_957 * secondsPerDay, last: 47_482 * secondsPerDay)
    /// The lock for the time zone setting of the C library, which supports only one time zone at a time.
    private static let lock = Mutex<Void>(())

    /// Returns the day rule of the time zone `name`, such as `Europe/Berlin`, or `nil` if the zone is not installed.
    public static func dayRule(forZone name: String) -> DayRule? {
        guard name != "UTC" else { return .utc }
        guard isInstalled(name) else { return nil }
        return lock.withLock { _ in
            let previousZone = getenv("TZ").map { String(cString: $0) }
            defer {
                if let previousZone { setenv("TZ", previousZone, 1) } else { unsetenv("TZ") }
                tzset()
            }
            setenv("TZ", ":\(name)", 1)
            tzset()
            return DayRule(clockChanges: clockChanges())
        }
    }

    /// Returns whether the time zone `name` is installed.
    ///
    /// This is checked because the C library would use UTC for an unknown name.
    private static func isInstalled(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return false }
        let folder = getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo"
        let start = try? ByteSource(InputFile(path: "\(folder)/\(name)")).bytes(at: 0, count: 4)
        return start == Array("TZif".utf8)
    }

    /// Returns the changes of the current time zone's UTC offset from 2000 to 2099.
    ///
    /// The search compares the offsets of successive days, because no time zone changes its offset twice a day.
    private static func clockChanges() -> [DayRule.ClockChange] {
        var last = searchedPeriod.first
        var lastOffset = offset(at: last)
        var changes = [DayRule.ClockChange(instant: .min, utcOffset: lastOffset)]
        for next in stride(from: last + secondsPerDay, through: searchedPeriod.last, by: secondsPerDay) {
            let offset = offset(at: next)
            defer { (last, lastOffset) = (next, offset) }
            guard offset != lastOffset else { continue }
            let instant = firstInstant(after: last, through: next, at: offset)
            changes.append(DayRule.ClockChange(instant: instant, utcOffset: offset))
        }
        return changes
    }

    private static func firstInstant(after start: Int, through end: Int, at offset: Int) -> Int {
        var (before, after) = (start, end)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if self.offset(at: middle) == offset { after = middle } else { before = middle }
        }
        return after
    }

    private static func offset(at instant: Int) -> Int {
        var instant = time_t(instant)
        var local = tm()
        return localtime_r(&instant, &local) == nil ? 0 : Int(local.tm_gmtoff)
    }
}
