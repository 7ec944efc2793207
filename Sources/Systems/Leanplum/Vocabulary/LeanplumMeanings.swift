import Bytes
import Telemetry

/// The documented meanings of actions, user attributes and deep links.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section D.
extension LeanplumVocabulary {
    /// The meanings of the actions of the SDK, except ``trackAction`` [D.4].
    static let actions: [CapturedText: String] = [
        "advance": "App state entered",
        "deleteNewsfeedMessage": "Newsfeed message deleted",
        "downloadFile": "File downloaded",
        "getMigrateState": "State of the migration asked for",
        "getNewsfeedMessages": "Newsfeed messages asked for",
        "getVars": "Content asked for",
        "getViewControllerVersionsList": "View controller versions asked for",
        "heartbeat": "App still in the foreground",
        "log": "Diagnostics of the SDK",
        "markNewsfeedMessageAsRead": "Newsfeed message read",
        "pauseSession": "App went to the background",
        "pauseState": "App state paused",
        "registerDevice": "Device registered for development",
        "restart": "Session restarted",
        "resumeSession": "App came to the front",
        "resumeState": "App state resumed",
        "saveInterface": "Interface saved",
        "saveInterfaceImage": "Image of the interface saved",
        "setDeviceAttributes": "Device attributes set",
        "setTrafficSourceInfo": "Traffic source set",
        "setUserAttributes": "User attributes set",
        "setVars": "Variables of the app sent",
        "start": "SDK started, new session",
        "stop": "Process ended",
        "trackGeofence": "Region entered or left",
        "uploadFile": "File uploaded",
    ]

    /// The meanings of the user attributes of Firefox [D.2].
    static let attributes = Dictionary(
        uniqueKeysWithValues: LeanplumFields.attributes.sorted.map { ($0.key.description, $0.meaning) })

    /// The destinations of the deep links of Firefox [D.3].
    static let deepLinks: [CapturedText: String] = [
        "default-browser/system-settings": "the system's settings for the default browser",
        "homepanel/bookmarks": "the bookmarks",
        "homepanel/downloads": "the downloads",
        "homepanel/history": "the history",
        "homepanel/new-private-tab": "a new private tab",
        "homepanel/reading-list": "the reading list",
        "homepanel/top-sites": "the top sites",
        "settings/clear-private-data": "the settings for clearing private data",
        "settings/fxa": "the settings of the Firefox account",
        "settings/general": "the settings",
        "settings/homepage": "the settings of the home page",
        "settings/mailto": "the settings for mail links",
        "settings/newtab": "the settings of new tabs",
        "settings/search": "the settings for searching",
        "settings/theme": "the settings of the theme",
    ]
}
