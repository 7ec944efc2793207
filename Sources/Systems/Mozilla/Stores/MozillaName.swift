import JSONText
import Telemetry

/// The kind of store that the name of a file or folder indicates.
///
/// In the forms below, `<name>` is the storage name, which is `MozTelemetry-Default` or `MozTelemetry` in the apps of
/// Mozilla.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.1.
enum MozillaName: Equatable, Sendable {
    /// A folder named `<name>-<type>`, which may contain ping files.
    case pingFolder(type: String)
    /// A file named `<name>-<type>.json` (format S1) or `<name>-<type>-<seconds>.json` (format S1b).
    case pingArray(type: String)
    /// A file named `<name>-values.json` (format V1).
    case values
    /// A file named `eventArray-<name>-<type>.json` (format PE).
    case pendingEvents(type: String)
    /// A file named `<name>.plist` (format S0).
    case datedMeasurements
    /// A property list in a folder named `Preferences` (formats V2 and V3, and preferences of app groups).
    case preferences

    private static let storageNames = ["MozTelemetry-Default", "MozTelemetry"]
    private static let knownTypes = ["core", "focus-event", "mobile-event"]

    /// Creates the kind of store that a folder name indicates, or returns `nil` if it indicates none.
    init?(folder name: String) {
        guard let type = Self.pingTypeSuffix(of: name) else { return nil }
        self = .pingFolder(type: type)
    }

    /// Creates the kind of store that a file name and a folder name indicate, or returns `nil` if they indicate none.
    init?(file name: String, in folder: String) {
        if name.hasSuffix(".plist") {
            if Self.storageNames.contains(String(name.dropLast(6))) {
                self = .datedMeasurements
            } else if folder == "Preferences" {
                self = .preferences
            } else {
                return nil
            }
            return
        }
        guard name.hasSuffix(".json") else { return nil }
        let base = String(name.dropLast(5))
        if base.hasPrefix("eventArray-") {
            self = .pendingEvents(type: Self.pingType(in: String(base.dropFirst(11))))
        } else if base.hasSuffix("-values") {
            self = .values
        } else if let type = Self.pingTypeSuffix(of: Self.removingSeconds(from: base)) {
            self = .pingArray(type: type)
        } else {
            return nil
        }
    }

    /// Returns whether a name starts with the storage name that the SDK uses.
    ///
    /// A file with this prefix is recognized as a store even if its contents are damaged.
    static func hasSDKPrefix(_ name: String) -> Bool {
        name.hasPrefix("MozTelemetry") || name.hasPrefix("eventArray-MozTelemetry")
    }

    /// Returns whether a ping folder of the SDK can have the name `name`.
    static func isSDKPingFolder(_ name: String) -> Bool { hasSDKPrefix(name) && pingTypeSuffix(of: name) != nil }

    /// Returns the ping type in a name of the form `<name>-<type>`, or an empty string for other names.
    static func pingType(in name: String) -> String { pingTypeSuffix(of: name) ?? "" }

    private static func pingTypeSuffix(of name: String) -> String? {
        for storage in storageNames where name.hasPrefix(storage + "-") && name.count > storage.count + 1 {
            return String(name.dropFirst(storage.count + 1))
        }
        return knownTypes.first { name.hasSuffix("-" + $0) }
    }

    /// Returns `base` without the time in seconds at its end, if there is one (format S1b).
    private static func removingSeconds(from base: String) -> String {
        guard let dash = base.lastIndex(of: "-") else { return base }
        let seconds = String(base[base.index(after: dash)...])
        return seconds.contains(".") && DecimalTime(plain: seconds.utf8.span) != nil ? String(base[..<dash]) : base
    }
}

extension DecimalTime {
    /// Parses the time in a ping file name, `-t-<seconds>.json` (format S3) or `<seconds>.json` (format S2).
    ///
    /// Returns `nil` for any other name.
    ///
    /// Unlike the SDK, which searches the whole path for a time, this initializer uses only the name.
    init?(pingFileName name: Span<UInt8>) {
        let start = name.count > 3 && name.extracting(..<3).equals("-t-") ? 3 : 0
        let end = name.count - 5
        guard end > start, name.extracting(end...).equals(".json"), name[start].isDigit else { return nil }
        let number = name.extracting(start..<end)
        guard number.indices.count(where: { number[$0] == UInt8(ascii: ".") }) <= 1 else { return nil }
        self.init(plain: number)
    }
}
