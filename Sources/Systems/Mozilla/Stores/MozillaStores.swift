import Bytes
import Files
import JSONText
import Telemetry

/// Recognizes the stores of Mozilla's SDK by the names that it gives, and by contents where others may use the same names.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 1.1 and 1.2.
enum MozillaStores {
    static let format = StoreFormat(
        kinds: [.mozillaPingFile, .mozillaPingArray, .mozillaPendingEvents, .mozillaDefaults, .mozillaValues],
        mayBelongToStore: mayBelongToStore, isNamedForStore: isNamedForStore(_:in:), storeOfFolder: store(ofFolder:),
        storesOfFile: stores(ofFile:in:), storesOfSingleFile: stores(ofSingleFile:inFolderAt:_:), storeByContents: nil,
        backups: .ofSomeApps(isAbsentFromBackups(_:beside:)))

    /// The preferences of one early SDK (V2), which hold nothing else.
    private static let ownPreferences = "org.mozilla.telemetry-ios-lib.plist"

    static func mayBelongToStore(_ file: MemberName) -> Bool {
        file.name.endsInAnyCase(with: ".json") || file.name.endsInAnyCase(with: ".plist")
            || MozillaName.isOwnPingFolder(file.folder)
    }

    /// A ping folder: the SDK names it, or its files are named as only the SDK does.
    static func store(ofFolder folder: inout FolderLook) -> (any Store)? {
        let isOwn = MozillaName.isOwnPingFolder(folder.name)
        guard isOwn || holdsPing(folder) else { return nil }
        var pings: [PingFolder.Unsorted] = []
        let files = folder.files
        pings.reserveCapacity(files.count)
        for index in files.indices {
            var time = files.withName(index, DecimalTime.init(pingFileName:))
            // A file without a time in its name belongs to another program, unless the folder is the SDK's own.
            guard time != nil || isOwn else { continue }
            if time == nil { time = envelopeTime(of: files[index], in: &folder) }
            pings.append(PingFolder.Unsorted(time: time, entry: UInt32(files.entry(index))))
        }
        return PingFolder(
            path: folder.path, type: MozillaName.namedType(of: folder.name), files: pings, of: folder)
    }

    /// Whether a folder that is not the SDK's own has a file that is named like a ping.
    private static func holdsPing(_ folder: borrowing FolderLook) -> Bool {
        let isNamedForType = MozillaName(folder: folder.name) != nil
        let files = folder.files
        return files.indices.contains { index in
            files.withName(index) { name in
                let isMarked = name.count > 3 && name.extracting(..<3).equals("-t-")
                return (isNamedForType || isMarked) && DecimalTime(pingFileName: name) != nil
            }
        }
    }

    /// Returns the time in the envelope of a ping file, for a file whose name contains no time.
    private static func envelopeTime(of file: [UInt8], in folder: inout FolderLook) -> DecimalTime? {
        // A file that cannot be read or parsed is reported when its pings are read.
        guard let bytes = try? folder.contents(of: file) else { return nil }
        return (try? JSONDocument(bytes))?.timeOfPingFile
    }

    static func stores(ofFile name: String, in folder: inout FolderLook) -> FileFinding {
        switch MozillaName(file: name, in: folder.name) {
        case .pingArray(let type)?:
            let isOwn = MozillaName.isOwn(name) || holds(["\"documentId\"", "\"uploadPath\""], name, in: &folder)
            return isOwn ? .own([MozillaFile(.pingArray(type: type), named: name, in: folder)]) : .stranger
        case .values?:
            let isOwn = MozillaName.isOwn(name) || holds(["\"clientId\"", "-seq\""], name, in: &folder)
            return isOwn ? .own([MozillaFile(.values, named: name, in: folder)]) : .stranger
        case .pendingEvents(let type)?:
            return .own([MozillaFile(.pendingEvents(type: type), named: name, in: folder)])
        case .datedMeasurements?: return .own([MozillaFile(.datedMeasurements, named: name, in: folder)])
        case .preferences?: return stores(ofPreferences: name, in: &folder)
        case .pingFolder?, nil: return .stranger
        }
    }

    /// Preferences of an app or an app group; they may hold other systems' keys as well.
    private static func stores(ofPreferences name: String, in folder: inout FolderLook) -> FileFinding {
        if name == Self.ownPreferences {
            return .own([MozillaFile(.preferences(hasPrefix: false), named: name, in: folder)])
        }
        if holds([StoredValues.keyPrefix], name, in: &folder) {
            return .shared([MozillaFile(.preferences(hasPrefix: true), named: name, in: folder)])
        }
        if holds([MozillaFile.groupEventsKey], name, in: &folder) {
            return .shared([MozillaFile(.groupPreferences, named: name, in: folder)])
        }
        return .stranger
    }

    /// Whether a file contains all of `texts`, which shows that it is Mozilla's.
    private static func holds(_ texts: [String], _ name: String, in folder: inout FolderLook) -> Bool {
        // A JSON file of another program may be too large to read. Preferences that are too large must be reported.
        folder.holds(Array(name.utf8), all: texts, mustFit: name.hasSuffix(".plist"))
    }

    static func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding {
        guard DecimalTime(pingFileName: name.utf8.span) != nil || MozillaName(folder: folder.name) != nil else {
            return stores(ofFile: name, in: &folder)
        }
        let file = Array(name.utf8)
        return .own([
            PingFolder(
                path: folder.path(of: file), type: MozillaName.namedType(of: folder.name),
                files: [PingFolder.Unsorted(time: nil, entry: UInt32(folder.files.entry(0)))], of: folder)
        ])
    }

    /// WebXR Viewer, Firefox since 11 and Lockwise keep their pings in `Library/Caches`.
    private static let appsWithPingsInCaches: Set<String> = [
        "org.mozilla.ios.XRViewer", "org.mozilla.ios.Firefox", "org.mozilla.ios.FirefoxBeta",
        "org.mozilla.ios.Lockbox",
    ]

    /// Pings of another system are an app's own too: today's Firefox keeps them elsewhere.
    static func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool {
        Self.appsWithPingsInCaches.contains(applicationID)
            && !stores.contains { store in
                store.parts.contains { $0.kind != .mozillaDefaults && $0.kind != .mozillaValues }
            }
    }

    static func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
        MozillaName.isOwn(name) || (store is PingFolder && DecimalTime(pingFileName: name.utf8.span) != nil)
    }
}

extension String {
    /// Whether the text ends like this; ASCII letters of either case are the same.
    /// - Parameter suffix: in lower case.
    fileprivate func endsInAnyCase(with suffix: String) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) { byte, wanted in byte.lowercased == wanted }
    }
}
