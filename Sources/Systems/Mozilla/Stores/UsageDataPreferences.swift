import Bytes
import JSONText
import PropertyList
import Telemetry

/// The settings of Mozilla's apps for usage data.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
enum UsageDataPreferences {
    static let settings = [
        focus("Focus", stateIfAbsent: .on),
        // Klar sends usage data only if the user has switched it on.
        focus("Klar", stateIfAbsent: .off),
        firefox("Firefox"), firefox("FirefoxBeta"), firefox("Fennec"), firefox("FennecEnterprise"),
        // The app group of nightly builds is not named for their bundle id.
        firefox("FennecEnterprise", group: "Fennec.enterprise"),
        // The app writes the setting when the user answers its question about usage data.
        setting(
            "XRViewer", appName: "WebXR", file: "\(prefix)XRViewer", key: "useAnalytics", stateIfAbsent: .unknown),
    ]

    private static let prefix = "org.mozilla.ios."

    private static func focus(_ name: String, stateIfAbsent: UsageDataState) -> UsageDataSetting {
        setting(
            name, appName: name, file: "group.\(prefix)\(name)", key: "SendAnonymousUsageData",
            stateIfAbsent: stateIfAbsent)
    }

    private static func firefox(_ name: String, group: String? = nil) -> UsageDataSetting {
        setting(
            name, appName: "Fennec", file: "group.\(prefix)\(group ?? name)", key: "profile.settings.sendUsageData",
            stateIfAbsent: .on)
    }

    private static func setting(
        _ name: String, appName: String, file: String, key: String, stateIfAbsent: UsageDataState
    ) -> UsageDataSetting {
        UsageDataSetting(
            applicationID: prefix + name, appName: appName, fileName: "\(file).plist", key: key,
            stateIfAbsent: stateIfAbsent, systems: [.mozilla, leanplum])
    }

    /// The system of Leanplum, which Firefox switches off together with telemetry-ios.
    private static let leanplum = SystemName("leanplum")

    /// Returns the setting in a property list called `name`, or `nil` if there is none.
    static func setting(ofFile name: String) -> UsageDataSetting? {
        settings.first { $0.fileName.utf8.elementsEqual(name.utf8) }
    }

    /// Returns the state of `setting` in the contents of its property list, or `nil` if they are damaged.
    static func state(of setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState? {
        guard let document = try? PropertyListDocument(contents), document.kind(of: document.root) == .dictionary else {
            return nil
        }
        guard let value = document.value(of: JSONKey(setting.key), in: document.root) else {
            return setting.stateIfAbsent
        }
        return isTrue(value, in: document) ? .on : .off
    }

    /// Returns whether `value` is true by the rules of `UserDefaults.bool(forKey:)`.
    ///
    /// A number is true unless it is 0. A string is true if it is `YES`, `true` or `1` in any case. All other values
    /// are false.
    private static func isTrue(_ value: PropertyListNode, in document: PropertyListDocument) -> Bool {
        switch document.kind(of: value) {
        case .boolean: document.boolean(of: value)
        case .integer: document.integer(of: value).bits != 0
        case .real: document.real(of: value) != 0
        case .text:
            document.payload(of: value).count <= maximumTrueSize
                && ["yes", "true", "1"].contains { document.string(of: value).utf8.map(\.lowercased) == Array($0.utf8) }
        case .date, .data, .null, .uid, .array, .dictionary: false
        }
    }

    /// The size, in bytes, of the longest string that is true, in UTF-16.
    private static let maximumTrueSize = 8
}
