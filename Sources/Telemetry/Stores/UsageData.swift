import Bytes

/// Whether the user of an app has switched on usage data.
public enum UsageDataState: String, Sendable, CaseIterable {
    case on, off
    /// The preferences with the setting were not captured, are damaged, or do not determine the state.
    case unknown
}

/// The setting with which the user of an app switches usage data on or off.
public struct UsageDataSetting: Sendable, Hashable {
    /// The bundle id of the app.
    public let applicationID: String
    /// The name of the app in records.
    public let appName: String
    /// The name of the property list that contains the setting, in the container of the app or of its app group.
    public let fileName: String
    /// The key of the setting in the property list.
    public let key: String
    /// The state if the property list does not contain the key.
    public let stateIfAbsent: UsageDataState
    /// The systems whose records must not be uploaded if usage data is switched off.
    public let systems: [SystemName]

    /// Creates a setting.
    public init(
        applicationID: String, appName: String, fileName: String, key: String, stateIfAbsent: UsageDataState,
        systems: [SystemName]
    ) {
        self.applicationID = applicationID
        self.appName = appName
        self.fileName = fileName
        self.key = key
        self.stateIfAbsent = stateIfAbsent
        self.systems = systems
    }

    /// Returns whether the setting belongs to `app`, compared by its bundle id and its name.
    public func belongs(to app: App) -> Bool {
        app.id?.utf8.elementsEqual(applicationID.utf8) ?? false || app.name?.utf8.elementsEqual(appName.utf8) ?? false
    }
}

/// A setting for usage data that was found in a capture.
public struct UsageDataSwitch: Sendable, Hashable {
    /// The setting.
    public let setting: UsageDataSetting
    /// The state of the setting, or `nil` if its property list is damaged or unreadable.
    private let storedState: UsageDataState?
    /// The path of the property list in the capture.
    @CapturedText public private(set) var path: String

    /// Creates a switch.
    ///
    /// `state` is `nil` if the property list is damaged or unreadable.
    public init(_ setting: UsageDataSetting, state: UsageDataState?, path: String) {
        self.setting = setting
        storedState = state
        self.path = path
    }

    /// The state of the setting.
    public var state: UsageDataState { storedState ?? .unknown }

    /// The beginning of ``sentence`` if usage data is switched off.
    public static let offSentence = "usage data is switched off"

    /// A sentence, without a full stop, that states whether usage data is switched on.
    public var sentence: String {
        switch storedState {
        case .off?: "\(Self.offSentence): \(setting.key) in \(path)"
        case .on?: "usage data is switched on: \(setting.key) in \(path)"
        case .unknown?: "it is unknown whether usage data is switched on: \(setting.key) is not in \(path)"
        case nil: "it is unknown whether usage data is switched on: \(path) cannot be read"
        }
    }

    /// The sentence that ``sentence`` replaces if the property list of the setting was not captured.
    public static let sentenceWithoutPreferences =
        "it is unknown whether usage data is switched on: the preferences with this setting are not in the capture"

    /// Returns the one of two equally near switches that applies.
    ///
    /// A switch that is off applies, so that no data is sent that a user has withdrawn. Otherwise, a switch with an
    /// unknown state applies.
    public func combined(with other: UsageDataSwitch) -> UsageDataSwitch {
        switch (state, other.state) {
        case (.off, _), (.unknown, .on), (.unknown, .unknown), (.on, .on): self
        case (_, .off), (.on, .unknown): other
        }
    }
}

/// The switches for usage data that can apply to the records of a container.
public struct UsageDataSwitches: Sendable {
    /// Whether the container is known to belong to the app of the switches.
    ///
    /// If not, a switch applies only to records that name its app.
    public let isAppKnown: Bool
    /// The switches, which belong to different apps if ``isAppKnown`` is `false`.
    public private(set) var switches: [UsageDataSwitch]

    /// Creates a list of switches.
    public init(_ switches: [UsageDataSwitch], isAppKnown: Bool) {
        self.switches = switches
        self.isAppKnown = isAppKnown
    }

    /// Adds a switch.
    public mutating func add(_ other: UsageDataSwitch) { switches.append(other) }

    /// Returns the switch that applies to the records of `system` that name `app`, or `nil` if there is none.
    public func applying(to system: SystemName, app: App?) -> UsageDataSwitch? {
        switches.first { found in
            found.setting.systems.contains(system) && (isAppKnown || app.map(found.setting.belongs) ?? false)
        }
    }
}
