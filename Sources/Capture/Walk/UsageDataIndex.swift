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
    private let settings: [UsageDataSetting]
    /// The switches, by the indices of the stores that contain them.
    private var switches: [Int: UsageDataSwitch] = [:]
    /// The switches that can apply to the records of a container, by the number of the container.
    private var switchesByContainer: [Int: UsageDataSwitches] = [:]

    /// Finds and reads the switches among `stores`.
    init(_ stores: FoundStores, of tree: FileTree, _ formats: [StoreFormat]) {
        let formats = formats.compactMap(\.usageData)
        settings = formats.flatMap(\.settings)
        let paths = UsageDataPaths(settings)
        for index in stores.indices {
            guard let setting = paths.setting(inFileAt: stores[index].path) else { continue }
            // A file can be the store of several systems.
            if let last = switches[index - 1], last.path.utf8.elementsEqual(stores[index].path.utf8) { continue }
            switches[index] = Self.read(setting, stores[index].store, tree, formats)
        }
        guard !switches.isEmpty else { return }
        assignSwitches(to: Self.containers(of: stores, tree, paths), stores, tree)
    }

    private static func read(
        _ setting: UsageDataSetting, _ store: any Store, _ tree: FileTree, _ formats: [UsageDataFormat]
    ) -> UsageDataSwitch {
        var (name, contents): ([UInt8], [UInt8]) = ([], [])
        let format = formats.first { $0.settings.contains(setting) }
        // An unreadable file is reported when its store is scanned.
        guard let file = store as? any FileStore, file.path(ofFile: 0, name: &name) == file.path,
            let folder = try? tree.folder(at: file.folderPath),
            (try? folder.read(name, limit: StoreLimits.file, into: &contents)) != nil
        else { return UsageDataSwitch(setting, state: nil, path: store.path) }
        return UsageDataSwitch(setting, state: format?.state(setting, contents), path: store.path)
    }

    /// Returns the switches that can apply to the records in the container called `number`, or `nil` if there are none.
    func switches(ofContainer number: Int) -> UsageDataSwitches? { switchesByContainer[number] }

    /// Returns the state of usage data for the store at `index`, whose records name `app`.
    ///
    /// Returns `nil` if no setting concerns the store.
    func status(of found: FoundStore, at index: Int, app: App?) -> UsageDataStatus? {
        guard let system = found.store.system, settings.contains(where: { $0.systems.contains(system) }) else {
            return nil
        }
        let switches = switchesByContainer[found.containerNumber]
        if let found = self.switches[index] ?? switches?.applying(to: system, app: app) {
            return UsageDataStatus(state: found.state, sentence: found.sentence)
        }
        guard app.map({ app in settings.contains { $0.belongs(to: app) } }) ?? true else { return nil }
        return UsageDataStatus(state: .unknown, sentence: UsageDataSwitch.sentenceWithoutPreferences)
    }
}

/// The state of usage data for a store.
public struct UsageDataStatus: Sendable {
    /// The state.
    public let state: UsageDataState
    /// A sentence, without a full stop, that states the state and its origin.
    public let sentence: String
}

/// The functions that identify settings and apps by the paths of property lists.
private struct UsageDataPaths {
    private let settings: [UsageDataSetting]
    private static let suffix = ".plist"

    init(_ settings: [UsageDataSetting]) { self.settings = settings }

    func setting(inFileAt path: String) -> UsageDataSetting? {
        guard path.utf8.suffix(Self.suffix.utf8.count).elementsEqual(Self.suffix.utf8) else { return nil }
        return settings.first { Self.isName($0.fileName, ofFileAt: path) }
    }

    /// Returns the bundle id of the app whose own preferences are in the file at `path`, or `nil` if there is none.
    func applicationID(ofPreferencesAt path: String) -> String? {
        guard path.utf8.suffix(Self.suffix.utf8.count).elementsEqual(Self.suffix.utf8) else { return nil }
        return settings.first { Self.isName($0.applicationID + Self.suffix, ofFileAt: path) }?.applicationID
    }

    private static func isName(_ name: String, ofFileAt path: String) -> Bool {
        let rest = path.utf8.dropLast(name.utf8.count)
        // The path of a file in the root of an archive has no slash before the name.
        return path.utf8.suffix(name.utf8.count).elementsEqual(name.utf8)
            && (rest.isEmpty || rest.last == UInt8(ascii: "/") || rest.last == UInt8(ascii: "!"))
    }

    /// Returns whether records of `system` depend on a setting.
    func concerns(_ system: SystemName?) -> Bool {
        system.map { system in settings.contains { $0.systems.contains(system) } } ?? false
    }

    /// Returns the bundle id that equals the identifier of a container, or `nil` if no setting belongs to it.
    func applicationID(equalTo identifier: String) -> String? {
        settings.first { $0.applicationID.utf8.elementsEqual(identifier.utf8) }?.applicationID
    }
}

/// A container in which records can depend on a switch.
private struct GovernedContainer {
    let number: Int
    /// The path of the container as a folder, with a trailing slash unless it is empty.
    let folder: [UInt8]
    let container: Container
    /// The bundle ids for which the container has preferences.
    var preferenceOwners: Set<String> = []
    /// Whether the container can be the container of an app with a setting, and not only of an app group.
    var isCandidate: Bool
    /// The bundle id of the app, or `nil` if it is unknown.
    var applicationID: String?
}

extension UsageDataIndex {
    /// Returns the containers that belong to apps with settings, or to unknown apps.
    private static func containers(
        of stores: FoundStores, _ tree: FileTree, _ paths: UsageDataPaths
    ) -> [GovernedContainer] {
        var containers = [GovernedContainer?](repeating: nil, count: stores.containerCount)
        for found in stores {
            let number = found.containerNumber
            var known = containers[number] ?? governedContainer(found, tree, paths)
            if let setting = paths.setting(inFileAt: found.path) { known.preferenceOwners.insert(setting.applicationID) }
            if let id = paths.applicationID(ofPreferencesAt: found.path) {
                known.preferenceOwners.insert(id)
                known.isCandidate = true
            } else if paths.setting(inFileAt: found.path) == nil, paths.concerns(found.store.system) {
                known.isCandidate = true
            }
            containers[number] = known
        }
        return containers.compactMap { known in
            guard var known, known.container.kind == .app else { return nil }
            if let identifier = known.container.identifier {
                known.applicationID = paths.applicationID(equalTo: identifier)
                // The container of another app is not governed.
                return known.applicationID == nil ? nil : known
            }
            known.applicationID = known.preferenceOwners.count == 1 ? known.preferenceOwners.first : nil
            return known.isCandidate ? known : nil
        }
    }

    private static func governedContainer(
        _ found: FoundStore, _ tree: FileTree, _ paths: UsageDataPaths
    ) -> GovernedContainer {
        let container = found.container
        return GovernedContainer(
            number: found.containerNumber, folder: folder(container.path, in: tree), container: container,
            isCandidate: false)
    }

    /// Returns `path` with a slash after each folder and after the name of an archive.
    private static func folder(_ path: String, in tree: FileTree) -> [UInt8] {
        var folder = Array(path.utf8)
        let archive = tree.part(of: path)?.prefix.utf8.count ?? 0
        if archive > 0, folder[archive - 1] == UInt8(ascii: "!") { folder.insert(UInt8(ascii: "/"), at: archive) }
        if let last = folder.last, last != UInt8(ascii: "/") { folder.append(UInt8(ascii: "/")) }
        return folder
    }

    private typealias LocatedSwitch = (folder: [UInt8], containerNumber: Int, found: UsageDataSwitch)

    private mutating func assignSwitches(to containers: [GovernedContainer], _ stores: FoundStores, _ tree: FileTree) {
        let located: [LocatedSwitch] = switches.sorted { $0.key < $1.key }.map { index, found in
            let store = stores[index]
            return (Self.folder(store.container.path, in: tree), store.containerNumber, found)
        }
        let unknown = containers.filter { $0.applicationID == nil }
        for id in Set(located.map(\.found.setting.applicationID)) {
            let known = containers.filter { $0.applicationID == id }
            assign(located.filter { $0.found.setting.applicationID == id }, to: known, among: known)
        }
        for name in Set(located.map(\.found.setting.appName)) {
            let ofName = located.filter { $0.found.setting.appName == name }
            let ids = Set(ofName.map(\.found.setting.applicationID))
            let known = containers.filter { $0.applicationID.map(ids.contains) ?? false }
            assign(ofName, to: unknown, among: unknown + known)
        }
        // The container of an app group can contain records, too.
        for (_, number, found) in located where switchesByContainer[number] == nil {
            switchesByContainer[number] = UsageDataSwitches([found], isAppKnown: true)
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
        for (folder, _, found) in switches {
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
