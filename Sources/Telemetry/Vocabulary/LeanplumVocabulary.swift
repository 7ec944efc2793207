/// What Leanplum's requests mean: actions of the SDK, events of Firefox, user attributes and deep links.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the multi upload", section D.
enum LeanplumVocabulary {
    /// The sense of an action; nil if it is not documented [D.4].
    static func meaning(ofAction action: String) -> String? { actions[action] }

    /// The meaning of an event; nil if it is not documented [D.1].
    static func meaning(ofEvent event: String) -> String? { events[event] }

    /// What a user attribute says; nil if it is not documented [D.2].
    static func meaning(ofAttribute attribute: String) -> String? { attributes[attribute] }

    /// Where a deep link leads: `firefox://deep-link?url=settings/fxa`. Nil if no version of Firefox goes there: it makes the
    /// value small, drops empty parts and needs two [D.3].
    static func destination(ofDeepLink link: String) -> String? {
        guard link.hasPrefix(deepLinkStart) else { return nil }
        let parts = link.dropFirst(deepLinkStart.count).lowercased().split(separator: "/")
        return parts.count == 2 ? deepLinks["\(parts[0])/\(parts[1])"] : nil
    }

    /// What deep links begin with.
    static let deepLinkStart = "firefox://deep-link?url="

    /// What a track request without an event name is: a message was shown.
    static let messageShown = "Message shown"

    private static let actions: [String: String] = [
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

    private static let attributes: [String: String] = [
        "Alternate Mail Client Installed": "another mail app is installed",
        "Build channel is Release": "release build",
        "Experiment id": "id of an experiment",
        "Experiment name": "name of an experiment",
        "Experiment variant": "variant of an experiment",
        "Focus Installed": "Focus is installed",
        "FxA account is verified": "Firefox account is verified",
        "Klar Installed": "Klar is installed",
        "Mailto Is Default": "mail links open the default mail app",
        "Number of devices in FxA account": "number of devices in the Firefox account",
        "Pocket Installed": "Pocket is installed",
        "Signed In Sync": "signed in to Sync",
        "Telemetry Opt In": "usage data is sent",
    ]

    private static let deepLinks: [String: String] = [
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
