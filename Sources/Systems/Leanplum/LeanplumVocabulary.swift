import Bytes
import JSONText
import Telemetry

/// The meanings of Leanplum's requests: the actions of the SDK, and the events, user attributes and deep links of
/// Firefox.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section D.
struct LeanplumVocabulary: Vocabulary {
    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        guard let requests = payload.array(LeanplumKeys.data, in: payload.root) else { return [] }
        return payload.elements(of: requests).map { LeanplumLabels(payload: payload).label(of: $0, &nested) }
    }

    /// The action of requests that report an event or a shown message.
    static let trackAction = "track"
    /// The action of requests that assign attributes to the device.
    static let deviceAttributesAction = "setDeviceAttributes"

    /// The actions of the SDK.
    ///
    /// Requests of an app can have other actions.
    static let actionNames = Set(actions.keys).union([CapturedText(trackAction)])

    /// Returns the destination of a deep link such as `firefox://deep-link?url=settings/fxa` [D.3].
    ///
    /// Returns `nil` if `link` is not a documented deep link.
    static func destination(ofDeepLink link: String) -> String? {
        guard link.hasPrefix(deepLinkPrefix) else { return nil }
        // As in Firefox, letter case and empty components are ignored.
        let parts = link.dropFirst(deepLinkPrefix.count).lowercased().split(separator: "/")
        return deepLinks[parts.joined(separator: "/")]
    }

    private static let deepLinkPrefix = "firefox://deep-link?url="
}

/// The meanings of the requests in one payload.
private struct LeanplumLabels {
    let payload: JSONDocument

    /// Returns the meaning of a request, or `nil` if it is not documented.
    func label(of request: JSONNode, _ nested: inout JSONDocument) -> String? {
        guard let action = payload.text(LeanplumKeys.action, in: request) else { return nil }
        guard action == LeanplumVocabulary.trackAction else {
            guard let meaning = LeanplumVocabulary.actions[action] else { return nil }
            let isSetting = action == "setUserAttributes"
            let attributes = isSetting ? attributes(of: request, &nested) : []
            return attributes.isEmpty ? meaning : "\(meaning): \(attributes.joined(separator: ", "))"
        }
        guard let event = payload.text(LeanplumKeys.event, in: request) else {
            return payload.text(LeanplumKeys.messageID, in: request).map { _ in "Message shown" }
        }
        guard let meaning = LeanplumVocabulary.events[event] else { return nil }
        return destination(of: request, &nested).map { "\(meaning), deep link to \($0)" } ?? meaning
    }

    /// Returns the meanings of the user attributes that a request sets, and the number of undocumented attributes.
    private func attributes(of request: JSONNode, _ nested: inout JSONDocument) -> [String] {
        guard let text = payload.value(of: LeanplumKeys.userAttributes, in: request),
            nested.read(stringAt: text, of: payload)
        else { return [] }
        var known: [String] = []
        var unknown = 0
        for attribute in nested.members(of: nested.root) {
            let name = nested.string(of: attribute.key)
            if let meaning = LeanplumVocabulary.attributes[name] {
                known.append(meaning)
            } else {
                unknown += 1
            }
        }
        return unknown == 0 ? known : known + [unknown.counted("unknown attribute")]
    }

    /// Returns the destination of the first documented deep link in the parameters of an event, or `nil` if there is
    /// none.
    private func destination(of request: JSONNode, _ nested: inout JSONDocument) -> String? {
        guard let text = payload.value(of: LeanplumKeys.params, in: request),
            nested.read(stringAt: text, of: payload)
        else { return nil }
        for parameter in nested.members(of: nested.root) where nested.kind(of: parameter.value) == .string {
            let link = nested.string(of: parameter.value)
            if let destination = LeanplumVocabulary.destination(ofDeepLink: link) { return destination }
        }
        return nil
    }
}

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
    ///
    /// The links `history` and `settings` are documented, but no version of Firefox follows them. Their destinations are
    /// those of `homepanel/history` and `settings/general`.
    static let deepLinks: [CapturedText: String] = [
        "default-browser/system-settings": "the system's settings for the default browser",
        "history": "the history",
        "homepanel/bookmarks": "the bookmarks",
        "homepanel/downloads": "the downloads",
        "homepanel/history": "the history",
        "homepanel/new-private-tab": "a new private tab",
        "homepanel/reading-list": "the reading list",
        "homepanel/top-sites": "the top sites",
        "settings": "the settings",
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

extension LeanplumVocabulary {
    /// The meanings of the events of Firefox and of the SDK.
    ///
    /// Event names that were replaced on 16 June 2017 are included.
    static let events: [CapturedText: String] = releasedEvents.merging(preReleaseEvents) { released, _ in released }
        .merging(sdkEvents) { firefox, _ in firefox }

    private static let releasedEvents: [CapturedText: String] = [
        "E_Added_Site_To_Tracking_Protection_Safelist": "Site added to the safelist of tracking protection",
        "E_Added_Site_To_Tracking_Protection_Whitelist": "Site added to the safelist of tracking protection",
        "E_App_Opened_as_Default_Browser": "App opened as the default browser",
        "E_Cleared_Private_Data": "Private data cleared",
        "E_Default_Browser_Card_Clicked_Go_To_Settings": "Default-browser card led to the settings",
        "E_Default_Browser_Onboarding_Clicked_Go_To_Settings": "Default-browser onboarding led to the settings",
        "E_Dismissed_Default_Browser_Card": "Default-browser card dismissed",
        "E_Dismissed_Default_Browser_Onboarding": "Default-browser onboarding dismissed",
        "E_Dismissed_ETP_Cover_Sheet_And_Start_Browsing": "Tracking-protection sheet dismissed, browsing started",
        "E_Dismissed_ETP_Sheet": "Tracking-protection sheet dismissed",
        "E_Dismissed_Onboarding": "Onboarding dismissed",
        "E_Dismissed_Onboarding_Showed_Login": "Onboarding dismissed, login shown",
        "E_Dismissed_Onboarding_Showed_SignUpFlow": "Onboarding dismissed, sign-up shown",
        "E_Dismissed_Update_Cover_Sheet": "Update sheet dismissed",
        "E_Dismissed_Update_Cover_Sheet_And_Go_To_Settings": "Tracking-protection sheet led to the settings",
        "E_Dismissed_Update_Cover_Sheet_And_Start_Browsing": "Update sheet dismissed, browsing started",
        "E_Download_Media_Saved_Image": "Image saved",
        "E_FXA_Synced_New_Device": "New device synced with the Firefox account",
        "E_First_Run": "First start after install",
        "E_Interact_With_Search_URL_Area": "Search and URL area used",
        "E_Onboarding_Was_Swiped_Before_AB_Test_Could_Start": "Onboarding swiped before its experiment started",
        "E_Opened_App": "App opened",
        "E_Opened_Bookmark": "Bookmark opened",
        "E_Opened_Mailto_Link": "Mail link opened",
        "E_Opened_New_Tab": "New tab opened",
        "E_Opened_Pocket_Story": "Pocket story opened",
        "E_Opened_Tracking_Protection_Menu": "Tracking-protection menu opened",
        "E_Saved_Bookmark": "Bookmark saved",
        "E_Saved_Login_And_Password": "Login and password saved",
        "E_Second_Run": "Second start after install",
        "E_Settings_Clicked_Set_Default_Browser": "Setting for the default browser tapped",
        "E_Tracking_Protection_Settings_Changed": "Tracking-protection settings changed",
        "E_User_Downloaded_Focus": "Focus was installed",
        "E_User_Downloaded_Pocket": "Pocket was installed",
        "E_User_Signed_In_To_FxA": "Signed in to a Firefox account",
        "E_User_Signed_Up_For_FxA": "Signed up for a Firefox account",
        "E_User_Tapped_Share_Button": "Share button tapped",
        "E_User_Used_Reader_View": "Reader view used",
        "Opened Login Manager": "Login manager opened",
        "Opened Telephone Link": "Telephone link opened",
    ]

    private static let preReleaseEvents: [CapturedText: String] = [
        "Cleared Private Data": "Private data cleared",
        "Closed Private Tabs": "Private tabs closed",
        "Closed Private Tabs When Leaving Private Browsing": "Private tabs closed when leaving private browsing",
        "Download Media - Saved Image": "Image saved",
        "First Run": "First start after install",
        "Focus Promo Impression": "Promotion of Focus shown",
        "Focus Promo Timed Out": "Promotion of Focus timed out",
        "Focus Promo was Dismissed By Tap": "Promotion of Focus dismissed",
        "Interact With Search URL Area": "Search and URL area used",
        "Opened App": "App opened",
        "Opened Bookmark": "Bookmark opened",
        "Opened Mailto Link": "Mail link opened",
        "Opened New Tab": "New tab opened",
        "Save Image": "Image saved",
        "Saved Bookmark": "Bookmark saved",
        "Saved Login and Password": "Login and password saved",
        "Second Run": "Second start after install",
        "User Tapped Focus Promo Button": "Promotion of Focus tapped",
    ]

    private static let sdkEvents: [CapturedText: String] = [
        "Accept": "Message accepted",
        "Cancel": "Message cancelled",
        "Crash": "App crashed",
        "Displayed": "Push message displayed",
        "Held Back": "Message held back for a control group",
        "Open": "Push message opened",
        "__exception": "Exception in the app",
    ]
}
