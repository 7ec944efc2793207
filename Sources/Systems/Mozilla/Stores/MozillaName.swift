import JSONText
import Telemetry

/// The kind of store that the name of a file or folder indicates.
///
/// In the forms below, `<name>` is the storage name. It is `MozTelemetry-Default` or `MozTelemetry` in the apps of
/// Mozilla, and can be anything in other apps.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.1.
enum MozillaName: Equatable, Sendable {
    /// A folder named `<name>-<type>`, which contains ping files if their names have the form of ping file names.
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

    /// Creates the kind of store that a folder named `name` can be.
    ///
    /// Returns `nil` if there is none.
    init?(folder name: String) {
        guard let type = Self.type(from: name) else { return nil }
        self = .pingFolder(type: type)
    }

    /// Creates the kind of store that a file named `name` can be.
    ///
    /// Returns `nil` if there is none.
    ///
    /// `folder` is the name of the folder that contains the file.
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
        } else if let type = Self.type(from: Self.withoutSeconds(base)) {
            self = .pingArray(type: type)
        } else {
            return nil
        }
    }

    /// Returns whether a name starts with the SDK's own storage name.
    ///
    /// A file with such a name that cannot be read is a damaged store instead of a file of another program.
    static func hasSDKPrefix(_ name: String) -> Bool {
        name.hasPrefix("MozTelemetry") || name.hasPrefix("eventArray-MozTelemetry")
    }

    /// Returns whether a folder named `name` is a ping folder, regardless of its contents.
    static func isSDKPingFolder(_ name: String) -> Bool { hasSDKPrefix(name) && type(from: name) != nil }

    /// Returns the ping type at the end of a name `<name>-<type>`, or an empty string if the name has another form.
    static func pingType(in name: String) -> String {
        type(from: name) ?? ""
    }

    private static func type(from name: String) -> String? {
        for storage in storageNames where name.hasPrefix(storage + "-") && name.count > storage.count + 1 {
            return String(name.dropFirst(storage.count + 1))
        }
        return knownTypes.first { name.hasSuffix("-" + $0) }
    }

    /// Removes the seconds at the end of a name of the format S1b.
    private static func withoutSeconds(_ base: String) -> String {
        guard let dash = base.lastIndex(of: "-"), base[base.index(after: dash)...].contains("."),
            DecimalTime(plain: String(base[base.index(after: dash)...]).utf8.span) != nil
        else { return base }
        return String(base[..<dash])
    }
}

extension DecimalTime {
    /// Reads the time in the name of a ping file, `-t-<seconds>.json` (format S3) or `<seconds>.json` (format S2).
    ///
    /// Returns `nil` if the name has another form. Unlike the SDK, which searches for the time in the whole path, this
    /// initializer only uses the name.
    init?(pingFileName name: Span<UInt8>) {
        let start = name.count > 3 && name.extracting(..<3).equals("-t-") ? 3 : 0
        let end = name.count - 5
        guard end > start, name.extracting(end...).equals(".json"), name[start].isDigit else { return nil }
        let number = name.extracting(start..<end)
        var points = 0
        for index in number.indices where number[index] == UInt8(ascii: ".") { points += 1 }
        guard points <= 1 else { return nil }
        self.init(plain: number)
    }
}
