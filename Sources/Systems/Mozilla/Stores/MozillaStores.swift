import Bytes
import Files
import JSONText
import Telemetry

/// The format of the stores of Mozilla's SDK.
///
/// Stores are recognized by their names, and by their contents if other programs may use the same names.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 1.1 and 1.2.
struct MozillaStores: StoreFormat {
    let kinds: [StoreKind] = [
        .mozillaPingFile, .mozillaPingArray, .mozillaPendingEvents, .mozillaDefaults, .mozillaValues,
    ]
    let usageDataSettings = UsageDataPreferences.settings

    /// The name of the preferences file in which an early SDK stored its own values (format V2).
    private static let sdkPreferencesFileName = "org.mozilla.telemetry-ios-lib.plist"

    func mayBelongToStore(_ file: MemberName) -> Bool {
        file.name.hasSuffixInAnyCase(".json") || file.name.hasSuffixInAnyCase(".plist")
            || MozillaName.isSDKPingFolder(file.folder)
    }

    /// Returns a file with the line of an event, or an array with one ping.
    func file(ofPart bytes: [UInt8], _ reject: Reject, of kind: StoreKind) -> PartFile? {
        switch kind {
        case .mozillaPendingEvents: PartFile(bytes)
        case .mozillaPingFile, .mozillaPingArray:
            PingReader.index(ofRejectedElement: reject).map {
                PartFile(bytes, after: "[", before: "]", recordIndex: $0)
            }
        default: nil
        }
    }

    /// Recognizes a ping folder by its name, or by the names of its files.
    ///
    /// Returns `nil` if the folder is not a ping folder.
    func store(ofFolder folder: inout InspectedFolder) -> (any Store)? {
        let isNamedBySDK = MozillaName.isSDKPingFolder(folder.name)
        guard isNamedBySDK || containsPingFile(folder) else { return nil }
        var pings: [PingFolder.UnsortedFile] = []
        pings.reserveCapacity(folder.files.count)
        for name in folder.files {
            var time = DecimalTime(pingFileName: name.span)
            // A file without a time in its name belongs to another program, unless the SDK named the folder.
            guard time != nil || isNamedBySDK else {
                folder.exclude(fileFromStore: name)
                continue
            }
            if time == nil { time = envelopeTime(of: name, in: &folder) }
            pings.append(PingFolder.UnsortedFile(time: time, name: name))
        }
        return PingFolder(
            path: folder.path, type: MozillaName.pingType(in: folder.name), files: pings, of: folder)
    }

    /// Returns whether a folder that the SDK did not name contains a file with the name of a ping file.
    ///
    /// A file name without the prefix `-t-` counts only if the folder name ends with a known ping type.
    private func containsPingFile(_ folder: borrowing InspectedFolder) -> Bool {
        let isNamedForType = MozillaName(folder: folder.name) != nil
        return folder.files.contains { name in
            (isNamedForType || name.starts(with: "-t-".utf8)) && DecimalTime(pingFileName: name.span) != nil
        }
    }

    /// Returns the time in the envelope of a ping file whose name contains no time, or `nil` if the time cannot be
    /// read.
    private func envelopeTime(of file: [UInt8], in folder: inout InspectedFolder) -> DecimalTime? {
        // A file that cannot be read or parsed is reported when its pings are read.
        guard let bytes = try? folder.contents(of: file) else { return nil }
        return (try? JSONDocument(bytes.blankingByteOrderMark))?.timeOfPingFile
    }

    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        if UsageDataPreferences.setting(ofFile: name) != nil { return stores(ofPreferences: name, in: &folder) }
        if isCounted(besides: name, in: folder) { return .unrelated }
        switch MozillaName(file: name, in: folder.name) {
        case .pingArray(let type)?:
            let isFromSDK =
                MozillaName.hasSDKPrefix(name)
                || file(named: name, containsAll: ["\"documentId\"", "\"uploadPath\""], in: &folder)
            return isFromSDK ? .exclusive([MozillaFile(.pingArray(type: type), named: name, in: folder)]) : .unrelated
        case .values?:
            let isFromSDK =
                MozillaName.hasSDKPrefix(name)
                || file(named: name, containsAll: ["\"clientId\"", "-seq\""], in: &folder)
            return isFromSDK ? .exclusive([MozillaFile(.values, named: name, in: folder)]) : .unrelated
        case .pendingEvents(let type)?:
            return .exclusive([MozillaFile(.pendingEvents(type: type), named: name, in: folder)])
        case .datedMeasurements?: return .exclusive([MozillaFile(.datedMeasurements, named: name, in: folder)])
        case .preferences?: return stores(ofPreferences: name, in: &folder)
        case .pingFolder?, nil: return .unrelated
        }
    }

    /// Returns whether a file is a copy of events or values whose original is also in the folder.
    ///
    /// Unlike pings, such events have no ids, so that those in both files would be counted twice.
    private func isCounted(besides name: String, in folder: borrowing InspectedFolder) -> Bool {
        guard name.hasSuffix(".json") else { return false }
        let base = String(name.dropLast(5))
        let original = MozillaName.removingMark(from: base)
        guard original.utf8.count < base.utf8.count else { return false }
        switch MozillaName(file: name, in: folder.name) {
        case .values?, .pendingEvents?: return folder.files.contains(Array("\(original).json".utf8))
        case .pingArray?, .datedMeasurements?, .preferences?, .pingFolder?, nil: return false
        }
    }

    /// Recognizes preferences of an app or an app group, which other telemetry systems may also use.
    private func stores(ofPreferences name: String, in folder: inout InspectedFolder) -> FileFinding {
        if name == Self.sdkPreferencesFileName {
            return .exclusive([MozillaFile(.preferences(hasPrefix: false), named: name, in: folder)])
        }
        if file(named: name, containsAll: [StoredValues.keyPrefix], in: &folder) {
            return .shared([MozillaFile(.preferences(hasPrefix: true), named: name, in: folder)])
        }
        // Without the setting for usage data, a file named for it is not a store, but is read nevertheless.
        let keys = [MozillaFile.groupEventsKey, UsageDataPreferences.setting(ofFile: name)?.key].compactMap(\.self)
        for key in keys where file(named: name, containsAll: [key], in: &folder) {
            return .shared([MozillaFile(.groupPreferences, named: name, in: folder)])
        }
        return .unrelated
    }

    /// Returns whether a file contains all of `texts`, and therefore belongs to Mozilla's SDK.
    private func file(named name: String, containsAll texts: [String], in folder: inout InspectedFolder) -> Bool {
        // A JSON file that is too large may belong to another program. Preferences that are too large must be reported.
        folder.holds(Array(name.utf8), all: texts, mustFit: name.hasSuffix(".plist"))
    }

    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder)
        -> FileFinding
    {
        guard DecimalTime(pingFileName: name.utf8.span) != nil || MozillaName(folder: folder.name) != nil else {
            return stores(ofFile: name, in: &folder)
        }
        let file = Array(name.utf8)
        return .exclusive([
            PingFolder(
                path: folder.path(of: file), type: MozillaName.pingType(in: folder.name),
                files: [PingFolder.UnsortedFile(time: nil, name: file)], of: folder)
        ])
    }

    /// The bundle ids of apps that store their pings in `Library/Caches`: WebXR Viewer, Firefox since 11, and Lockwise.
    private static let appsWithPingsInCaches: Set<CapturedText> = [
        "org.mozilla.ios.XRViewer", "org.mozilla.ios.Firefox", "org.mozilla.ios.FirefoxBeta",
        "org.mozilla.ios.Lockbox",
    ]

    /// Returns whether the app `applicationID` may have pings that a backup omits because they are in `Library/Caches`.
    ///
    /// Returns `false` if `stores` contain any store except preferences and values of Mozilla's SDK. For example,
    /// stores of the Glean SDK show that the app is a current version of Firefox, which stores its pings elsewhere.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool {
        Self.appsWithPingsInCaches.contains(applicationID)
            && !stores.contains { store in
                store.parts.contains { $0.kind != .mozillaDefaults && $0.kind != .mozillaValues }
            }
    }

    func usageDataState(_ setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState? {
        UsageDataPreferences.state(of: setting, in: contents)
    }

    func namePrefixes(in store: (any Store)?) -> [String] { ["moztelemetry-", "eventarray-"] }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
        MozillaName.hasSDKPrefix(name) || (store is PingFolder && DecimalTime(pingFileName: name.utf8.span) != nil)
    }
}

extension String {
    /// Returns whether the string ends with the lowercase string `suffix`, ignoring ASCII case.
    fileprivate func hasSuffixInAnyCase(_ suffix: String) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) { byte, lowercase in byte.lowercased == lowercase }
    }
}

// MARK: - Names

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
        let base = Self.removingMark(from: String(name.dropLast(5)))
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

    /// Returns `base`, a file name without its suffix, without the mark of a copy, such as ` (1)` or ` copy`.
    ///
    /// Only the storage name of the SDK is known to contain no spaces.
    static func removingMark(from base: String) -> String {
        guard hasSDKPrefix(base), let end = base.firstIndex(where: { " (".contains($0) }) else { return base }
        return String(base[..<end])
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

/// A folder that contains one ping in each file (formats S2 and S3).
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 2.2 and 2.4.
struct PingFolder: Store {
    /// The path of the folder, or of the file if a single file was specified.
    let path: String
    private let isSingleFile: Bool
    /// The ping type in the name of the folder, or an empty string if the name contains none.
    let pingType: String
    /// The names of the files, sorted by the times of their pings.
    private let files: [[UInt8]]
    /// Whether a slash follows the folder path in file paths, which is not the case in the root of an archive.
    private let hasSeparator: Bool

    /// A file and its time, for sorting.
    struct UnsortedFile {
        /// The time in the name of the file or in its envelope, or `nil` if both contain none.
        let time: DecimalTime?
        let name: [UInt8]
    }

    /// Creates a store of the given files of `folder`, and sorts the files by time and then by name.
    init(path: String, type: String, files: consuming [UnsortedFile], of folder: borrowing InspectedFolder) {
        self.path = path
        isSingleFile = path != folder.path
        hasSeparator = folder.base.utf8.count > folder.path.utf8.count
        pingType = type
        files.sort { left, right in
            switch (left.time, right.time) {
            case (let leftTime?, let rightTime?) where leftTime != rightTime: leftTime < rightTime
            case (nil, _?): true
            case (_?, nil): false
            default: left.name.lexicographicallyPrecedes(right.name)
            }
        }
        self.files = files.map(\.name)
    }
}

extension PingFolder {
    /// The path of the folder, or an empty string for a single file, which is in the root of the capture.
    var folderPath: String { isSingleFile ? "" : path }

    var system: SystemName? { .mozilla }
    var kind: StoreKind { .mozillaPingFile }
    var fileCount: Int { files.count }

    func file(at index: Int) -> StoreFile? {
        let name = files[index]
        var path: [UInt8] = []
        path.reserveCapacity(folderPath.utf8.count + name.count + 1)
        path += folderPath.utf8
        if hasSeparator { path.append(UInt8(ascii: "/")) }
        path += name
        return StoreFile(name: name, path: String(decoding: path, as: UTF8.self), kind: kind)
    }

    func makeReader(in context: StoreContext) -> any StoreReader { pingReader(in: context) }

    func pingReader(in context: StoreContext) -> PingReader {
        PingReader(.pingFile, pingTypeFromName: pingType, applicationID: context.container.applicationID)
    }
}
