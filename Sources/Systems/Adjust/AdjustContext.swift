import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// The contents of the files of the SDK that determine how the packages of a queue are sent.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
package struct AdjustContext {
    /// The state of the SDK, or `nil` if it is unknown.
    private(set) var state: AdjustState?
    /// The path of the preferences that state that the user asked Adjust to forget the device, or `nil` if there are
    /// none.
    private(set) var requestToForget: String?
    /// The path of the file that states that the device is forgotten, or `nil` if there is none.
    private var forgottenPath: String?
    /// The folder whose queue the SDK uses.
    private(set) var liveFolder = ""
    /// The session's parameters for callbacks, with `nil` for each value that is not a string.
    private(set) var callbackParameters: [CapturedText: String?] = [:]
    /// The session's parameters for partners, with `nil` for each value that is not a string.
    private(set) var partnerParameters: [CapturedText: String?] = [:]

    /// Creates the context of a queue without any other files.
    package init() {}

    /// Reads the files that apply to the file at `place`.
    ///
    /// If there are several files of a kind, the first readable one applies. The folder with the latest activity or
    /// package precedes the other one, because an app can also return to an older version of the SDK. A device is
    /// forgotten if any state reports it. Damaged files are reported when their stores are scanned.
    /// `report` is called with each problem and the path of its file.
    init(_ place: AdjustFolders, in context: StoreContext, _ report: (Problem, String) -> Void) {
        let states = place.folders.map { folder in
            context.contents(ofStoreAt: folder + AdjustFile.activityState.rawValue).flatMap { bytes in
                guard var archive = try? AdjustArchive(bytes) else { return nil as AdjustState? }
                return try? AdjustState(&archive)
            }
        }
        let folders = Self.isOlderFolderLive(place, states, context) ? place.folders.reversed() : place.folders
        liveFolder = folders[0]
        func first<Contents>(
            _ file: AdjustFile, _ read: (inout AdjustArchive) throws(PropertyListError) -> Contents
        ) -> Contents? {
            for folder in folders {
                guard let bytes = context.contents(ofStoreAt: folder + file.rawValue) else { continue }
                if var archive = try? AdjustArchive(bytes), let contents = try? read(&archive) { return contents }
            }
            return nil
        }
        let strings = { (archive: inout AdjustArchive) throws(PropertyListError) in try archive.rootStrings() }
        state = (folders == place.folders ? states : states.reversed()).lazy.compactMap(\.self).first
        if let forgotten = states.firstIndex(where: { $0?.isForgotten ?? false }) {
            forgottenPath = place.folders[forgotten] + AdjustFile.activityState.rawValue
        }
        callbackParameters = first(.callbackParameters, strings) ?? [:]
        partnerParameters = first(.partnerParameters, strings) ?? [:]
        requestToForget = place.container.flatMap {
            AdjustPreferences.requestToForget(in: $0, of: context, report)
        }
        forgottenPath = forgottenPath ?? requestToForget
        if forgottenPath != nil {
            state = state ?? AdjustState()
            state?.isForgotten = true
        }
    }

    /// Returns whether the files in the older folder are newer than all files in the newer folder.
    ///
    /// Returns `false` if one of the folders contains no time.
    private static func isOlderFolderLive(
        _ place: AdjustFolders, _ states: [AdjustState?], _ context: StoreContext
    ) -> Bool {
        guard place.folders.count == 2 else { return false }
        let latest = zip(place.folders, states).map { folder, state in
            [state?.lastActivity, latestPackage(ofQueueIn: folder, context)].compactMap(\.self).max()
        }
        guard let newer = latest[0], let older = latest[1] else { return false }
        return newer < older
    }

    /// Returns the time of the latest package of the queue in `folder`, or `nil` if there is none.
    private static func latestPackage(ofQueueIn folder: String, _ context: StoreContext) -> Timestamp? {
        let path = folder + AdjustFile.queue.rawValue
        let source = Source(capture: context.capture, path: path, store: .adjustQueue, index: 0)
        guard let bytes = context.contents(ofStoreAt: path),
            var reader = try? AdjustQueueReader(bytes, source: source, context: AdjustContext())
        else { return nil }
        while reader.next() != nil {}
        return reader.summary.newest
    }

    /// Reports that the user asked Adjust to forget the device with the id `client`, if the user did.
    func reportForgotten(_ client: String?, _ output: inout ScanOutput) {
        guard let client, !client.isEmpty, let forgottenPath else { return }
        output.report(.forgotten, of: Withdrawal.Subject(.adjust, .client, id: client), path: forgottenPath)
    }
}

extension StoreContext {
    /// Returns the contents of the SDK file at `path` in the same container, or `nil` if the file cannot be read.
    func contents(ofStoreAt path: String) -> [UInt8]? {
        (neighbors.store(at: path) as? AdjustStore)?.location.contents(
            in: tree, limit: AdjustStores.sizeLimit.bytes)
    }
}

/// The activity state of the SDK, which determines whether the device sends its packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
struct AdjustState {
    /// Whether the SDK is switched on.
    let isEnabled: Bool
    /// Whether the user asked Adjust to forget the device, or the server reported that the user opted out.
    var isForgotten: Bool
    /// The id of the installation, or `nil` if the state contains none.
    let client: String?
    /// The time of the last activity, or `nil` if it is unknown or out of range.
    let lastActivity: Timestamp?
    /// Whether a delayed start of the SDK is not over, so that packages still lack the parameters of the session.
    let isDelayed: Bool
    /// The facts for reports, without ids and tokens.
    let facts: [String]

    /// The keys of ids, tokens and campaign names.
    ///
    /// Their values are not part of any output.
    static let secretKeys = [
        "adgroup", "adid", "campaign", "click_label", "costAmount", "creative", "deviceToken", "jsonResponse",
        "network",
        "trackerName", "trackerToken", "transactionIds", "uuid",
    ]

    /// Creates a state without facts that describes an SDK that is switched on.
    init() {
        (isEnabled, isForgotten, isDelayed, facts) = (true, false, false, [])
        (client, lastActivity) = (nil, nil)
    }

    /// Reads the state in `archive`, or throws an error if the root of the archive is not an activity state.
    init(_ archive: inout AdjustArchive) throws(PropertyListError) {
        let state = try archive.root(named: [.oldActivityState, .activityState])
        isEnabled = archive.flag("enabled", of: state) ?? true
        isForgotten = archive.flag("isGdprForgotten", of: state) ?? false
        client = try archive.string("uuid", of: state)
        lastActivity = archive.number("lastActivity", of: state)
            .flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }.flatMap { Timestamp(milliseconds: $0) }
        isDelayed = archive.flag("updatePackages", of: state) ?? false
        var facts = ["the SDK is switched \(isEnabled ? "on" : "off")"]
        if isForgotten { facts.append("the user asked Adjust to forget the device") }
        if isDelayed { facts.append("the delayed start of the SDK is not over") }
        let counts = [("sessionCount", "session"), ("eventCount", "event")].compactMap { key, noun in
            archive.number(key, of: state).flatMap { Int(exactly: $0) }.map { $0.counted(noun) }
        }
        if !counts.isEmpty { facts.append(counts.joined(separator: " and ") + " so far") }
        if let lastActivity { facts.append("last activity \(lastActivity)") }
        self.facts = facts
    }
}

/// The request of the user to be forgotten, as stored in the preferences of the app.
///
/// The SDK stores the request in the preferences while the SDK is switched off or not started.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
enum AdjustPreferences {
    private static let folder = "Library/Preferences"
    private static let key = "adj_gdpr_forget_me"

    /// Returns whether a file called `name` can contain the preferences of an app.
    static func isNamed(_ name: String) -> Bool { name.hasSuffix(".plist") }

    /// Returns the path of the preferences in `container` that state that the user asked to be forgotten.
    ///
    /// Returns `nil` if there are none.
    ///
    /// All property lists in the folder of the preferences are read, because the bundle id of the app can be unknown.
    static func requestToForget(
        in container: String, of context: StoreContext, _ report: (Problem, String) -> Void
    ) -> String? {
        func reportUnknown(_ code: String, _ reason: String, at offset: Int? = nil, _ path: String) {
            let text = "\(reason); it is unknown whether the user asked to be forgotten"
            report(Problem(code, text, at: offset, isLoss: false), path)
        }
        do throws(FileError) {
            let folder = try context.tree.folder(at: container + Self.folder)
            for entry in try folder.entries() where entry.kind == .file && isNamed(entry.text) {
                let path = "\(container)\(Self.folder)/\(entry.text)"
                var bytes: [UInt8] = []
                do throws(FileError) {
                    try folder.read(entry.name, limit: InputLimits.storeFileSize, into: &bytes)
                } catch {
                    reportUnknown("unreadable", error.description, path)
                    continue
                }
                do throws(PropertyListError) {
                    if try asksToForget(bytes) { return path }
                } catch {
                    reportUnknown("damaged", error.description, at: error.offset, path)
                }
            }
        } catch {
            if error.isReadFailure { reportUnknown("unreadable", error.description, container + Self.folder) }
        }
        return nil
    }

    private static func asksToForget(_ bytes: [UInt8]) throws(PropertyListError) -> Bool {
        guard bytes.contains(text: key) else { return false }
        let document = try PropertyListDocument(bytes)
        guard let value = document.value(of: JSONKey(key), in: document.root) else { return false }
        return document.boolean(of: value) || document.integer(of: value).bits == 1
    }
}
