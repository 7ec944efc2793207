import JSONText
import Telemetry

/// The kind of store that a file or folder may be, as its name tells.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.1. `<name>` is the storage
/// name, `MozTelemetry-Default` or `MozTelemetry` in shipped apps, anything else in others.
enum MozillaName: Equatable, Sendable {
    /// `<name>-<type>`: a folder of ping files, if its files say so.
    case pingFolder(type: String)
    /// `<name>-<type>.json` (S1), `<name>-<type>-<seconds>.json` (S1b).
    case pingArray(type: String)
    /// `<name>-values.json` (V1).
    case values
    /// `eventArray-<name>-<type>.json` (PE).
    case pendingEvents(type: String)
    /// `<name>.plist` (S0).
    case datedMeasurements
    /// A property list in a folder of preferences (V2, V3, and settings of app groups).
    case preferences

    private static let storageNames = ["MozTelemetry-Default", "MozTelemetry"]
    private static let knownTypes = ["core", "focus-event", "mobile-event"]

    /// The kind of store that a folder of this name can be.
    init?(folder name: String) {
        guard let type = Self.type(from: name) else { return nil }
        self = .pingFolder(type: type)
    }

    /// The kind of store that a file of this name can be.
    /// - Parameter folder: the name of the folder that it lies in.
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
            self = .pendingEvents(type: Self.namedType(of: String(base.dropFirst(11))))
        } else if base.hasSuffix("-values") {
            self = .values
        } else if let type = Self.type(from: Self.withoutSeconds(base)) {
            self = .pingArray(type: type)
        } else {
            return nil
        }
    }

    /// Whether the SDK's own storage name stands in front, so that what cannot be read is a damaged store and no
    /// stranger's file.
    static func isOwn(_ name: String) -> Bool {
        name.hasPrefix("MozTelemetry") || name.hasPrefix("eventArray-MozTelemetry")
    }

    /// Whether a folder of this name is a ping folder, whatever is in it.
    static func isOwnPingFolder(_ name: String) -> Bool { isOwn(name) && type(from: name) != nil }

    /// The ping type at the end of `<name>-<type>`; empty if the name is not of that form.
    static func namedType(of name: String) -> String {
        type(from: name) ?? ""
    }

    private static func type(from name: String) -> String? {
        for storage in storageNames where name.hasPrefix(storage + "-") && name.count > storage.count + 1 {
            return String(name.dropFirst(storage.count + 1))
        }
        return knownTypes.first { name.hasSuffix("-" + $0) }
    }

    /// Removes the seconds at the end of a dated name (S1b).
    private static func withoutSeconds(_ base: String) -> String {
        guard let dash = base.lastIndex(of: "-"), base[base.index(after: dash)...].contains("."),
            DecimalTime(plain: String(base[base.index(after: dash)...]).utf8.span) != nil
        else { return base }
        return String(base[..<dash])
    }
}

extension DecimalTime {
    /// Reads the time from the name of a ping file: `-t-<seconds>.json` (S3) or `<seconds>.json` (S2); nil if the name
    /// has another form. The whole name counts: the SDK searches in all of the path and can be fooled by it.
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
