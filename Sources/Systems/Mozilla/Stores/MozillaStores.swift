import Bytes
import Files
import Telemetry

/// How the stores of Mozilla's SDK are recognized: by the names that it gives, and by contents where others may use the
/// same names.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 1.1 and 1.2.
struct MozillaStores: StoreFormat {
    let absentFromAllBackups: String? = nil

    /// The preferences of one early SDK (V2), which hold nothing else.
    private static let ownPreferences = "org.mozilla.telemetry-ios-lib.plist"

    func mayBelongToStore(_ file: MemberName) -> Bool {
        file.name.endsInAnyCase(with: ".json") || file.name.endsInAnyCase(with: ".plist")
            || MozillaName.isOwnPingFolder(file.folder)
    }

    /// A ping folder: the SDK names it, or its files are named as only the SDK does.
    func store(ofFolder folder: inout FolderLook) -> (any Store)? {
        let isOwn = MozillaName.isOwnPingFolder(folder.name)
        guard isOwn || holdsPing(folder) else { return nil }
        var pings: [PingFolder.Unsorted] = []
        let files = folder.files
        for index in files.indices {
            if let time = files.withName(index, DecimalTime.init(pingFileName:)) {
                pings.append(PingFolder.Unsorted(entry: files.entry(index), time: time))
            } else if isOwn {
                // A stranger's file in a folder that is not the SDK's own is none of our business.
                pings.append(parsed(files[index], files.entry(index), in: &folder))
            }
        }
        return PingFolder(
            path: folder.path, folderPath: folder.path, base: folder.base, type: MozillaName.namedType(of: folder.name),
            files: pings, of: files.entries)
    }

    /// Whether a folder that is not the SDK's own has a file that is named like a ping.
    private func holdsPing(_ folder: borrowing FolderLook) -> Bool {
        let isNamedForType = MozillaName(folder: folder.name) != nil
        let files = folder.files
        return files.indices.contains { index in
            files.withName(index) { name in
                let isMarked = name.count > 3 && name.extracting(..<3).equals("-t-")
                return (isNamedForType || isMarked) && DecimalTime(pingFileName: name) != nil
            }
        }
    }

    /// A file whose name tells no time: its envelope does. The file is parsed to see it, and what was parsed is kept for the
    /// reading of its pings as far as there is room.
    private func parsed(_ file: [UInt8], _ entry: Int, in folder: inout FolderLook) -> PingFolder.Unsorted {
        // What cannot be read here is reported when it is read for its pings.
        guard let bytes = try? folder.contents(of: file) else { return PingFolder.Unsorted(entry: entry, time: nil) }
        guard let kept = folder.keepContents(of: file) else {
            return PingFolder.Unsorted(entry: entry, time: ParsedPingFile(bytes).time)
        }
        let parsed = ParsedPingFile(kept)
        let isKept = folder.tree.takeRoom(parsed.memorySize)
        return PingFolder.Unsorted(entry: entry, time: parsed.time, parsed: isKept ? parsed : nil)
    }

    func stores(ofFile name: String, in folder: inout FolderLook) -> FileFinding {
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
    private func stores(ofPreferences name: String, in folder: inout FolderLook) -> FileFinding {
        if name == Self.ownPreferences {
            return .own([MozillaFile(.preferences(hasPrefix: false), named: name, in: folder)])
        }
        if holds([StoredValues.keyPrefix], name, in: &folder) {
            return .shared([MozillaFile(.preferences(hasPrefix: true), named: name, in: folder)])
        }
        if holds([GroupPreferences.eventsKey], name, in: &folder) {
            return .shared([MozillaFile(.groupPreferences, named: name, in: folder)])
        }
        return .stranger
    }

    /// Whether a file holds some texts, by which it is Mozilla's; its bytes are kept then.
    private func holds(_ texts: [String], _ name: String, in folder: inout FolderLook) -> Bool {
        let bytes = Array(name.utf8)
        // A stranger's JSON may be large; preferences are not, and what is in these would be missed.
        guard folder.holds(bytes, all: texts, mustFit: name.hasSuffix(".plist")) else { return false }
        folder.keepContents(of: bytes)
        return true
    }

    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding {
        guard DecimalTime(pingFileName: name.utf8.span) != nil || MozillaName(folder: folder.name) != nil else {
            return stores(ofFile: name, in: &folder)
        }
        let file = Array(name.utf8)
        return .own([
            PingFolder(
                path: folder.path(of: file), folderPath: folder.path, base: folder.base,
                type: MozillaName.namedType(of: folder.name),
                files: [PingFolder.Unsorted(entry: folder.files.entry(0), time: nil)], of: folder.files.entries)
        ])
    }

    func store(byContentsOf name: String, in folder: inout FolderLook) -> (any Store)? { nil }

    /// WebXR Viewer, Firefox since 11 and Lockwise keep their pings in `Library/Caches`.
    private static let appsWithPingsInCaches: Set<String> = [
        "org.mozilla.ios.XRViewer", "org.mozilla.ios.Firefox", "org.mozilla.ios.FirefoxBeta",
        "org.mozilla.ios.Lockbox",
    ]

    /// Pings of another system are an app's own too: today's Firefox keeps them elsewhere.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool {
        Self.appsWithPingsInCaches.contains(applicationID)
            && !stores.contains { store in
                store.parts.contains { $0.kind != .mozillaDefaults && $0.kind != .mozillaValues }
            }
    }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
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
