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
    /// The session's parameters for callbacks and for partners, by file, with `nil` for each value that is not a string.
    private(set) var sessionParameters: [AdjustFile: [CapturedText: String?]] = [:]
    /// The problems with the preferences.
    private(set) var problems: [LocatedProblem] = []

    /// Creates the context of a queue without any other files.
    package init() {}

    /// Reads the files that apply to the file at `place`.
    ///
    /// If there are several files of a kind, the first readable one applies. The folder with the latest activity or
    /// package precedes the other one, because an app can also return to an older version of the SDK. A device is
    /// forgotten if any state reports it. Damaged files are reported when their stores are scanned.
    init(_ place: AdjustFolders, in context: StoreContext) {
        let states = place.folders.map { folder in
            context.archive(of: .activityState, in: folder).flatMap { try? AdjustState($0) }
        }
        let isOlderLive = Self.isOlderFolderLive(place, states, context)
        let folders = isOlderLive ? place.folders.reversed() : place.folders
        liveFolder = folders[0]
        state = (isOlderLive ? states.reversed() : states).lazy.compactMap(\.self).first
        for file in [AdjustFile.callbackParameters, .partnerParameters] {
            for folder in folders where sessionParameters[file] == nil {
                sessionParameters[file] = context.archive(of: file, in: folder).flatMap { try? $0.rootStrings() }
            }
        }
        if let container = place.container { readPreferences(in: container, of: context) }
        let forgotten = zip(place.folders, states).first { $1?.isForgotten == true }
        forgottenPath = forgotten.map { $0.0 + AdjustFile.activityState.rawValue } ?? requestToForget
        guard forgottenPath != nil else { return }
        state = state ?? AdjustState()
        state?.isForgotten = true
    }

    /// Returns whether the files in the older folder are newer than all files in the newer folder.
    ///
    /// Returns `false` if one of the folders contains no time.
    private static func isOlderFolderLive(
        _ place: AdjustFolders, _ states: [AdjustState?], _ context: StoreContext
    ) -> Bool {
        // In most containers, the SDK used one folder only, so that the times in the queue are not needed.
        let isUsed = zip(place.folders, states).map { folder, state in
            state != nil || context.neighbors.store(at: folder + AdjustFile.queue.rawValue) != nil
        }
        guard isUsed == [true, true] else { return false }
        let latest = zip(place.folders, states).map { folder, state in
            let package = context.adjustQueue(in: folder, AdjustContext())?.lazy.compactMap(\.time).max()
            return [state?.lastActivity, package].compactMap(\.self).max()
        }
        guard let newer = latest[0], let older = latest[1] else { return false }
        return newer < older
    }

    /// Reports that the user asked Adjust to forget the device with the id `client`, if the user did.
    func reportForgotten(_ client: String?, _ output: inout ScanOutput) {
        guard let client, !client.isEmpty, let forgottenPath else { return }
        output.report(.forgotten, of: Withdrawal.Subject(.adjust, .client, id: client), path: forgottenPath)
    }
}

extension StoreContext {
    /// Returns the contents of the SDK file at `path` in the same container, or `nil` if the file cannot be read.
    private func contents(ofStoreAt path: String) -> [UInt8]? {
        (neighbors.store(at: path) as? AdjustStore)?.fileContents(in: tree)
    }

    fileprivate func archive(of file: AdjustFile, in folder: String) -> AdjustArchive? {
        contents(ofStoreAt: folder + file.rawValue).flatMap { try? AdjustArchive($0) }
    }

    /// Returns a reader of the queue in `folder`, or `nil` if the queue is missing or cannot be read.
    func adjustQueue(in folder: String, _ surroundings: AdjustContext) -> AdjustQueueReader? {
        let path = folder + AdjustFile.queue.rawValue
        let source = Source(capture: capture, path: path, store: .adjustQueue, index: 0)
        return contents(ofStoreAt: path).flatMap { try? AdjustQueueReader($0, source: source, context: surroundings) }
    }
}

/// The activity state of the SDK, which determines whether the device sends its packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
struct AdjustState {
    /// Whether the SDK is switched on.
    private(set) var isEnabled = true
    /// Whether the user asked Adjust to forget the device, or the server reported that the user opted out.
    var isForgotten = false
    /// The id of the installation, or `nil` if the state contains none.
    private(set) var client: String?
    /// The time of the last activity, or `nil` if it is unknown or out of range.
    private(set) var lastActivity: Timestamp?
    /// Whether a delayed start of the SDK is not over, so that packages still lack the parameters of the session.
    private(set) var isDelayed = false
    /// The facts for reports, without ids and tokens.
    private(set) var facts: [String] = []

    /// The keys of ids, tokens and campaign names.
    ///
    /// Their values are not part of any output.
    static let secretKeys = [
        "adgroup", "adid", "campaign", "click_label", "costAmount", "creative", "deviceToken", "jsonResponse",
        "network", "trackerName", "trackerToken", "transactionIds", "uuid",
    ]

    /// Creates a state without facts that describes an SDK that is switched on.
    init() {}

    /// Reads the state in `archive`, or throws an error if the root of the archive is not an activity state.
    init(_ archive: AdjustArchive) throws(PropertyListError) {
        var archive = archive
        let state = try archive.root(named: .activityState)
        isEnabled = archive.number("enabled", of: state) != 0
        isForgotten = archive.number("isGdprForgotten", of: state) ?? 0 != 0
        client = try archive.string("uuid", of: state)
        lastActivity = archive.number("lastActivity", of: state)
            .flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }.flatMap { Timestamp(milliseconds: $0) }
        isDelayed = archive.number("updatePackages", of: state) ?? 0 != 0
        facts = ["the SDK is switched \(isEnabled ? "on" : "off")"]
        if isForgotten { facts.append("the user asked Adjust to forget the device") }
        if isDelayed { facts.append("the delayed start of the SDK is not over") }
        let counts = [("sessionCount", "session"), ("eventCount", "event")].compactMap { key, noun in
            archive.number(key, of: state).flatMap { Int(exactly: $0) }.map { $0.counted(noun) }
        }
        if !counts.isEmpty { facts.append(counts.joined(separator: " and ") + " so far") }
        if let lastActivity { facts.append("last activity \(lastActivity)") }
    }
}

/// The request of the user to be forgotten, as stored in the preferences of the app.
///
/// The SDK stores the request in the preferences while the SDK is switched off or not started.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
extension AdjustContext {
    private static let forgetKey = "adj_gdpr_forget_me"

    /// Returns whether a file called `name` can contain the preferences of an app.
    static func isPreferences(_ name: String) -> Bool { name.hasSuffix(".plist") }

    /// Searches the preferences in `container` for the request.
    ///
    /// All property lists in the folder of the preferences are read, because the bundle id of the app can be unknown.
    private mutating func readPreferences(in container: String, of context: StoreContext) {
        func report(_ code: String, _ reason: String, at offset: Int? = nil, _ path: String) {
            let text = "\(reason); it is unknown whether the user asked to be forgotten"
            let problem = Problem(code, text, at: offset, isLoss: false)
            problems.append(LocatedProblem(capture: context.capture, path: path, problem: problem))
        }
        let folderPath = container + "Library/Preferences"
        do throws(FileError) {
            let folder = try context.tree.folder(at: folderPath)
            for entry in try folder.entries() where entry.kind == .file && Self.isPreferences(entry.text) {
                let path = "\(folderPath)/\(entry.text)"
                do {
                    var bytes: [UInt8] = []
                    try folder.read(entry.name, limit: InputLimits.storeFileSize, into: &bytes)
                    if try Self.asksToForget(bytes) { return requestToForget = path }
                } catch let error as PropertyListError {
                    report("damaged", error.description, at: error.offset, path)
                } catch {
                    report("unreadable", "\(error)", path)
                }
            }
        } catch {
            if error.isReadFailure { report("unreadable", error.description, folderPath) }
        }
    }

    private static func asksToForget(_ bytes: [UInt8]) throws(PropertyListError) -> Bool {
        guard bytes.contains(text: forgetKey) else { return false }
        let document = try PropertyListDocument(bytes)
        guard let value = document.value(of: JSONKey(forgetKey), in: document.root) else { return false }
        return document.boolean(of: value) || document.integer(of: value).bits == 1
    }
}
