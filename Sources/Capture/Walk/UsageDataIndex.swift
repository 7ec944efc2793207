import Bytes
import Files
import Telemetry

/// The switches for usage data in a capture, and the containers whose records they apply to.
///
/// A capture can contain several phones, each with the container of an app and the container of its app group. A switch
/// therefore applies only to the nearest container of its app, and only if no other switch of the app is nearer to that
/// container. The distance is the length of the longest folder path that both have in common. Of equally near switches,
/// one that is off applies.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
struct UsageDataIndex: Sendable {
    private var settings: [UsageDataSetting] = []
    /// The switches of the capture, sorted by their paths.
    private var switches: [LocatedSwitch] = []
    /// The switches that can apply to the records of a container, by the number of the container.
    private var switchesByContainer: [Int: UsageDataSwitches] = [:]
    /// The problems with property lists, because of which the state of a switch is unknown.
    private(set) var problems: [LocatedProblem] = []

    /// A switch, and the folder of its container.
    private typealias LocatedSwitch = (folder: [UInt8], found: UsageDataSwitch)

    /// Creates an index without switches.
    init() {}

    /// Reads the switches in `files`, and assigns them to the containers of `stores`.
    ///
    /// `container` returns the container of the file at a path.
    init(
        _ files: [UsageDataFile], in stores: [FoundStore], of tree: FileTree, _ formats: [any StoreFormat],
        label: String,
        container: (String) -> Container
    ) {
        settings = formats.flatMap(\.usageDataSettings)
        for file in files.sorted(by: { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }) {
            let contents = file.contents(in: tree)
            let format = formats.first { $0.usageDataSettings.contains(file.setting) }
            let state = contents.flatMap { format?.usageDataState(file.setting, in: $0) }
            let found = UsageDataSwitch(file.setting, state: state, path: file.path)
            // The sentence of the switch states that the file cannot be read. A backup lists many such files.
            if contents != nil, state == nil {
                let problem = Problem("damaged", found.sentence, isLoss: false)
                problems.append(LocatedProblem(capture: label, path: file.path, problem: problem))
            }
            switches.append((Self.folder(container(file.path).path, in: tree), found))
        }
        if !switches.isEmpty { assignSwitches(to: containers(of: stores, tree)) }
    }

    /// Returns the switches that can apply to the records in the container called `number`, or `nil` if there are none.
    func switches(ofContainer number: Int) -> UsageDataSwitches? { switchesByContainer[number] }

    /// Returns the state of usage data for a store whose records name `app`.
    ///
    /// Returns `nil` if no setting concerns the store.
    func status(of store: FoundStore, app: App?) -> UsageDataStatus? {
        guard let system = store.store.system, concerns(system) else { return nil }
        let applying = switchesByContainer[store.containerNumber]?.applying(to: system, app: app)
        if let found = applying ?? switchAt(store.path) {
            return UsageDataStatus(state: found.state, sentence: found.sentence)
        }
        guard app.map({ app in settings.contains { $0.belongs(to: app) } }) ?? true else { return nil }
        return UsageDataStatus(state: .unknown, sentence: UsageDataSwitch.sentenceWithoutPreferences)
    }

    /// Returns the switch in the property list at `path`, or `nil` if there is none.
    private func switchAt(_ path: String) -> UsageDataSwitch? {
        let index = switches.indices.partitioningIndex {
            switches[$0].found.path.utf8.lexicographicallyFollowsOrEquals(path.utf8)
        }
        guard index < switches.endIndex, switches[index].found.path.utf8.elementsEqual(path.utf8) else { return nil }
        return switches[index].found
    }

    /// Returns whether records of `system` depend on a setting.
    private func concerns(_ system: SystemName) -> Bool { settings.contains { $0.systems.contains(system) } }

    /// Returns `path` with a slash after each folder and after the name of an archive.
    private static func folder(_ path: String, in tree: FileTree) -> [UInt8] {
        var folder = Array(path.utf8)
        let archive = tree.part(of: path)?.prefix.utf8.count ?? 0
        if archive > 0, folder[archive - 1] == UInt8(ascii: "!") { folder.insert(UInt8(ascii: "/"), at: archive) }
        if let last = folder.last, last != UInt8(ascii: "/") { folder.append(UInt8(ascii: "/")) }
        return folder
    }
}

/// A property list that is named for a setting for usage data.
struct UsageDataFile: Sendable {
    let setting: UsageDataSetting
    /// The path of the property list in the capture.
    let path: String
    /// The path of the folder that contains the property list.
    let folderPath: String

    /// Returns the contents of the property list, or `nil` if it is unreadable.
    fileprivate func contents(in tree: FileTree) -> [UInt8]? {
        var contents: [UInt8] = []
        guard let folder = try? tree.folder(at: folderPath),
            (try? folder.read(Array(setting.fileName.utf8), limit: InputLimits.storeFileSize, into: &contents)) != nil
        else { return nil }
        return contents
    }
}

/// The state of usage data for a store.
public struct UsageDataStatus: Sendable {
    /// The state.
    public let state: UsageDataState
    /// A sentence, without a full stop, that states the state and its origin.
    public let sentence: String
}

// MARK: - Containers

/// A container in which records can depend on a switch.
private struct GovernedContainer {
    let number: Int
    /// The path of the container as a folder, with a trailing slash unless it is empty.
    let folder: [UInt8]
    let container: Container
    /// The bundle ids of apps with preferences of the app or of its app group in the container.
    var preferenceOwners: Set<CapturedText> = []
    /// Whether the container contains preferences of an app, or a store whose records depend on a setting.
    var belongsToApp = false
    /// The bundle id of the app, or `nil` if it is unknown.
    var applicationID: String?

    func belongs(to id: String) -> Bool { applicationID?.utf8.elementsEqual(id.utf8) ?? false }
}

extension UsageDataIndex {
    private static let propertyListSuffix = ".plist"

    private func containers(of stores: [FoundStore], _ tree: FileTree) -> [GovernedContainer] {
        var known = [GovernedContainer?](repeating: nil, count: stores.containerCount)
        let switchPaths = Set(switches.map { Array($0.found.path.utf8) })
        for store in stores {
            var container =
                known[store.containerNumber]
                ?? GovernedContainer(
                    number: store.containerNumber, folder: Self.folder(store.container.path, in: tree),
                    container: store.container)
            if let owner = applicationID(ofPreferencesAt: store.path) {
                container.preferenceOwners.insert(owner)
                container.belongsToApp = true
            } else if let system = store.store.system, concerns(system), !switchPaths.contains(Array(store.path.utf8)) {
                container.belongsToApp = true
            }
            known[store.containerNumber] = container
        }
        let switchesByFolder = Dictionary(grouping: switches, by: \.folder)
        return known.compactMap(\.self).map { container in
            var container = container
            for (_, found) in switchesByFolder[container.folder] ?? [] {
                container.preferenceOwners.insert(found.setting.applicationID)
                if found.setting.fileName == found.setting.applicationID + Self.propertyListSuffix {
                    container.belongsToApp = true
                }
            }
            if container.container.kind == .app, let identifier = container.container.identifier {
                container.applicationID = identifier
            } else if container.preferenceOwners.count == 1 {
                container.applicationID = container.preferenceOwners.first?.string
            }
            return container
        }
    }

    /// Returns the bundle id of the app whose own preferences are in the file at `path`.
    ///
    /// Returns `nil` if there is no such app with a setting.
    private func applicationID(ofPreferencesAt path: String) -> String? {
        guard path.utf8.suffix(Self.propertyListSuffix.utf8.count).elementsEqual(Self.propertyListSuffix.utf8) else {
            return nil
        }
        let name = Path.name(of: path)
        return settings.first { "\($0.applicationID)\(Self.propertyListSuffix)".utf8.elementsEqual(name.utf8) }?
            .applicationID
    }
}

// MARK: - Assignment

extension UsageDataIndex {
    private mutating func assignSwitches(to containers: [GovernedContainer]) {
        let candidates = containers.filter { found in
            found.container.kind == .app && (found.belongsToApp || found.container.identifier != nil)
        }
        let unknown = candidates.filter { $0.applicationID == nil }
        for id in Set(texts: switches.map(\.found.setting.applicationID)).sortedStrings {
            let known = candidates.filter { $0.belongs(to: id) }
            assign(switches.filter { $0.found.setting.applicationID == id }, to: known, among: known)
        }
        for name in Set(texts: switches.map(\.found.setting.appName)).sortedStrings {
            let ofName = switches.filter { $0.found.setting.appName == name }
            let ids = Set(ofName.map(\.found.setting.applicationID))
            let known = candidates.filter { candidate in ids.contains { candidate.belongs(to: $0) } }
            assign(ofName, to: unknown, among: unknown + known)
        }
        // The container of an app group can contain the id of a client, too.
        let switchesByFolder = Dictionary(grouping: switches, by: \.folder)
        for container in containers where switchesByContainer[container.number] == nil {
            let own = (switchesByFolder[container.folder] ?? []).map(\.found)
                .filter { container.belongs(to: $0.setting.applicationID) }
            guard let first = own.first else { continue }
            let found = own.reduce(first) { $0.combined(with: $1) }
            switchesByContainer[container.number] = UsageDataSwitches([found], isAppKnown: true)
        }
    }

    /// Assigns switches of one app to the containers in `governed` for which they are nearest, if the containers are
    /// also the nearest ones among `candidates` for the switches.
    private mutating func assign(
        _ switches: [LocatedSwitch], to governed: [GovernedContainer], among candidates: [GovernedContainer]
    ) {
        let containerFolders = SortedFolders(candidates.map(\.folder))
        let switchFolders = SortedFolders(switches.map(\.folder))
        // Two folders are nearest to each other if both have the same longest path in common with their nearest ones.
        var nearest: [ArraySlice<UInt8>: UsageDataSwitch] = [:]
        for (folder, found) in switches {
            guard let common = containerFolders.longestCommonPath(with: folder) else { continue }
            nearest[common] = nearest[common]?.combined(with: found) ?? found
        }
        for container in governed {
            guard let common = switchFolders.longestCommonPath(with: container.folder), let found = nearest[common]
            else { continue }
            let isKnown = container.applicationID != nil
            switchesByContainer[container.number, default: UsageDataSwitches([], isAppKnown: isKnown)].add(found)
        }
    }
}

/// Folders in the order of their bytes.
private struct SortedFolders {
    private let folders: [[UInt8]]

    init(_ folders: [[UInt8]]) { self.folders = folders.sorted { $0.lexicographicallyPrecedes($1) } }

    /// Returns the longest folder path that `folder` has in common with any of the folders.
    ///
    /// Returns `nil` if there are no folders. Only two folders are compared, because folders with a common path are
    /// consecutive in the order.
    func longestCommonPath(with folder: [UInt8]) -> ArraySlice<UInt8>? {
        let next = folders.indices.partitioningIndex { folders[$0].lexicographicallyFollowsOrEquals(folder) }
        return [next - 1, next].filter(folders.indices.contains).map { Self.commonPath(folder, folders[$0]) }
            .max { $0.count < $1.count }
    }

    private static func commonPath(_ left: [UInt8], _ right: [UInt8]) -> ArraySlice<UInt8> {
        let count = zip(left, right).prefix { $0 == $1 }.count
        let end = left[..<count].lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return left[..<end]
    }
}
