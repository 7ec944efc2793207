import Bytes
import JSONText

/// The documented words in the events of Firefox, and their meanings.
///
/// An event has the meaning of its words together if the documentation lists them together. Otherwise, its meaning is that
/// of its object followed by that of its method, such as "Tab tray pressed". A documented value or extra is appended, such
/// as "Bookmark added: page action menu".
///
/// Values and extras that can be any text are never part of a meaning, so that the number of meanings is limited.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.3.
enum FirefoxVocabulary {
    /// Returns the meaning of an event with the words in a ping, or `nil` if one of the words is not documented.
    static func meaning(of words: EventNodes, extras: JSONNode?, in payload: JSONDocument) -> String? {
        let documented = meanings.meaning(of: words, in: payload)
        guard let meaning = documented?.text ?? composedMeaning(of: words, in: payload) else { return nil }
        var details: [String] = []
        if documented?.dependsOnValue != true, let value = words.value, payload.kind(of: value) == .string,
            let detail = values[payload.string(of: value)]
        {
            details.append(detail)
        }
        if let extras {
            details += extraKeys.compactMap { key in
                payload.value(of: key, .string, in: extras).flatMap { Self.extras["\(key)=\(payload.string(of: $0))"] }
            }
        }
        return details.isEmpty ? meaning : "\(meaning): \(details.joined(separator: ", "))"
    }

    /// Returns the meaning of an object and a method that the documentation does not list together.
    private static func composedMeaning(of words: EventNodes, in payload: JSONDocument) -> String? {
        guard composableCategories.contains(CapturedText(payload.string(of: words.category))),
            let method = methods[payload.string(of: words.method)],
            let object = objects[payload.string(of: words.object)]
        else { return nil }
        return "\(object) \(method)"
    }

    /// The categories of events whose object can have any method.
    private static let composableCategories: Set<CapturedText> = ["action", "firefox_account", "information"]

    /// The keys of the extras that determine the meaning of an event.
    private static let extraKeys: [JSONKey] = ["action", "gesture", "to"]
}

// MARK: - Events

extension FirefoxVocabulary {
    private static let meanings = EventMeanings(
        [appEvents, browsingEvents, tabEvents, settingsEvents, onboardingEvents, accountEvents, eventsWithValues]
            .joined().sorted { $0.key < $1.key }
            .map { key, meaning in
                let words = key.string.split(separator: ".", maxSplits: 3).map(String.init)
                return EventMeaning(
                    words[1], words[2], words.count > 3 ? words[3] : nil, category: words[0], means: meaning)
            })

    /// The meanings of events, keyed by category, method and object.
    private static let appEvents: [CapturedText: String] = [
        "action.foreground.app": "App came to the front",
        "action.background.app": "App went to the background",
        "action.voice-over.app": "State of VoiceOver",
        "action.switch-control.app": "State of Switch Control",
        "action.reduce-transparency.app": "State of Reduce Transparency",
        "action.reduce-motion.app": "State of Reduce Motion",
        "action.invert-colors.app": "State of Invert Colors",
        "action.open.as-default-browser": "App opened as the default browser",
        "app-extension-action.send-to-device.url": "Share extension: page sent to a device",
        "app-extension-action.application-open-url.url": "Share extension: page opened in Firefox",
        "app-extension-action.application-open-url.searchText": "Share extension: text searched in Firefox",
        "app-extension-action.bookmark-this-page.url": "Share extension: bookmark added",
        "app-extension-action.add-to-reading-list.url": "Share extension: added to the reading list",
        "app-extension-action.load-in-background.url": "Share extension: page loaded in the background",
        "enrollment.add.experiment-enrollment": "Enrolled in an experiment",
        "information.delete.clear-sd-webimage-cache": "Old image cache cleared",
    ]

    private static let browsingEvents: [CapturedText: String] = [
        "action.change.bookmark": "Bookmark edited",
        "action.tap.reader-mode-open-button": "Reader mode opened",
        "action.tap.reader-mode-close-button": "Reader mode closed",
        "action.add.reading-list-item": "Added to the reading list",
        "action.open.reading-list-item": "Opened from the reading list",
        "action.delete.reading-list-item": "Removed from the reading list",
        "action.scan.qr-code-url": "QR code with a URL scanned",
        "action.scan.qr-code-text": "QR code without a URL scanned",
        "action.drag.location-bar": "Dragged from the URL bar",
        "action.drop.location-bar": "Dropped on the URL bar",
        "action.drag.url": "URL dragged",
        "action.drop.url": "URL dropped",
        "action.tap.start-search-button": "Search started from the tab tray",
        "action.tap.awesomebar-results": "Result in the URL bar chosen",
        "information.view.awesomebar-position": "Position of the URL bar",
        "action.tap.download-link-button": "Download of a link chosen",
        "action.tap.download-now-button": "Download started",
        "action.cancel.download": "Download canceled",
        "action.press.key-command": "Keyboard command used",
        "action.pull.reload": "Page reloaded by pulling",
        "action.tap.reload-from-url-bar": "Page reloaded with the URL bar",
        "action.tap.navigate-tab-history-back": "Went back in the tab",
        "action.press.navigate-tab-history-back": "History of the tab opened from the back button",
        "action.swipe.navigate-tab-history-back-swipe": "Swiped back in the tab",
        "action.tap.navigate-tab-history-forward": "Went forward in the tab",
        "action.press.navigate-tab-history-forward": "History of the tab opened from the forward button",
        "prompt.translate.tab": "Translation of a page offered",
        "action.translate.tab": "Offer of a translation answered",
        "action.add.tracking-protection-safelist": "Tracking protection switched for a site",
        "action.add.tracking-protection-whitelist": "Site added to the safelist of tracking protection",
        "action.view.tracking-protection-statistics": "Statistics of tracking protection opened",
        "action.press.tracking-protection-menu": "Tracking-protection menu opened",
        "action.click.tracking-protection-menu": "Tracking-protection menu opened",
        "action.tap.top-site-tile": "Top site opened",
        "action.view.top-site-contextual-menu": "Menu of a top site opened",
        "action.tap.pocket-story": "Pocket story opened",
        "action.view.pocket-section-impression": "Pocket stories shown",
        "action.view.jump-back-in-impressions": "Section Jump Back In shown",
        "action.view.history-highlights-impressions": "Highlights of the history shown",
        "action.view.history-highlights-contextual-menu": "Menu of a highlight of the history opened",
        "action.navigate.navigate-to-group-history": "Group in the history opened",
        "action.tap.selected-history-item": "Page opened from the history",
        "action.tap.search-history": "Search of the history opened",
        "action.tap.delete-history": "Deletion of the history opened",
        "action.tap.share-page-with": "Page shared",
        "action.tap.send-to-device": "Page sent to a device",
        "action.tap.copy-address": "Address of the page copied",
        "action.tap.report-site-issue": "Problem with a site reported",
        "action.tap.find-in-page": "Find in page opened",
        "action.tap.request-desktop-site": "Desktop site requested",
        "action.tap.request-mobile-site": "Mobile site requested",
        "action.tap.pin-to-top-sites": "Page pinned to the top sites",
        "action.tap.remove-pinned-site": "Page removed from the pinned top sites",
        "action.tap.home-page": "Home page opened from the menu",
        "action.tap.library": "Library opened from the menu",
        "action.tap.logins-and-passwords": "Logins and passwords opened",
        "action.tap.sign-into-sync": "Sign-in to sync opened",
        "action.tap.block-images-enabled": "Images blocked",
        "action.tap.block-images-disabled": "Images no longer blocked",
        "action.tap.night-mode-enabled": "Night mode switched on",
        "action.tap.night-mode-disabled": "Night mode switched off",
        "action.open.whats-new": "Page about new features opened",
        "action.open.settings": "Settings opened from the menu",
    ]

    private static let tabEvents: [CapturedText: String] = [
        "action.add.tab": "Tab opened",
        "action.close.tab": "Tab closed",
        "action.delete.tab": "Tab closed",
        "action.close-all.tab": "All tabs closed",
        "action.deleteAll.tab": "All tabs closed",
        "action.tap.tab": "Tab chosen in the tab tray",
        "action.press.tab": "Tab chosen in the top tabs",
        "action.navigate.tab": "Page loaded in a tab",
        "action.drag.tab": "Tab dragged",
        "action.drop.tab": "Tab dropped",
        "action.press.tab-search": "Search of the open tabs used",
        "action.press.tab-toolbar": "Button of the tab toolbar pressed",
        "action.tap.add-new-tab-button": "New tab opened from the URL bar",
        "action.tap.private-browsing-button": "Private browsing switched",
        "action.open.tab-tray": "Tab tray opened",
        "action.close.tab-tray": "Tab tray closed",
        "action.tap.grouped-tab-perform-search": "Search repeated from a group of tabs",
        "information.background.normal-tab-quantity": "Number of open tabs that are not private",
        "information.background.private-tab-quantity": "Number of open private tabs",
        "action.open.medium-tabs-widget-url": "Medium tabs widget opened a page",
        "action.open.large-tabs-widget-url": "Large tabs widget opened a page",
        "action.open.small-quick-action-search": "Small widget opened a search",
        "action.open.medium-quick-action-search": "Medium widget opened a search",
        "action.open.medium-quick-action-private-search": "Medium widget opened a private search",
        "action.open.medium-quick-action-copied-link": "Medium widget opened the copied link",
        "action.open.medium-quick-action-close-private": "Medium widget closed the private tabs",
        "action.open.medium-top-sites-widget": "Top-sites widget opened a page",
    ]

    private static let settingsEvents: [CapturedText: String] = [
        "action.change.setting": "Setting changed",
        "action.press.setting": "Setting of the theme changed",
        "action.tap.website-data-button": "Website data opened",
        "action.tap.search-website-data": "Website data searched",
        "action.tap.clear-website-data-button": "All website data cleared",
        "action.tap.show-top-sites-button": "New tabs show the top sites",
        "action.tap.show-blank-page-button": "New tabs show a blank page",
        "action.tap.show-bookmarks-button": "New tabs show the bookmarks",
        "action.tap.show-history-button": "New tabs show the history",
        "action.tap.show-homepage-button": "New tabs show the home page",
        "action.tap.china-server-switch": "Server for China switched",
        "action.open.set-as-default-browser-menu-go-to-settings": "Setting for the default browser opened",
        "action.tap.default-browser-card": "Default-browser card dismissed",
        "action.tap.default-browser-card-go-to-settings": "Default-browser card led to the settings",
        "action.tap.default-browser-onboarding": "Default-browser onboarding dismissed",
        "action.tap.default-browser-onboarding-go-to-settings": "Default-browser onboarding led to the settings",
        "information.view.home-tab-banner-evergreen": "Default-browser card shown",
    ]

    private static let onboardingEvents: [CapturedText: String] = [
        "action.press.dismissed-onboarding": "Onboarding dismissed",
        "action.press.dismissed-onboarding-email-login": "Onboarding dismissed, login shown",
        "action.press.dismissed-onboarding-sign-up": "Onboarding dismissed, sign-up shown",
        "action.press.dismissed-update-cover_sheet_and_start_browsing": "Update sheet dismissed, browsing started",
        "action.press.dismissed-update-cover-sheet": "Update sheet dismissed",
        "action.press.dismissed-etp-sheet": "Tracking-protection sheet dismissed",
        "action.press.dismissed-etp-cover-sheet-and-start-browsing":
            "Tracking-protection sheet dismissed, browsing started",
        "action.press.dismissed-update-cover-sheet-and-go-to-settings":
            "Tracking-protection sheet led to the settings",
        "action.view.welcome-screen-view": "Welcome screen shown",
        "action.press.welcome-screen-close": "Welcome screen closed",
        "action.press.welcome-screen-sign-in": "Welcome screen led to the sign-in",
        "action.press.welcome-screen-sign-up": "Welcome screen led to the sign-up",
        "action.press.welcome-screen-next": "Welcome screen left for the next one",
        "action.view.sync-screen-view": "Onboarding screen about sync shown",
        "action.press.sync-screen-sign-up": "Onboarding screen about sync led to the sign-up",
        "action.press.sync-screen-start-browse": "Onboarding screen about sync left, browsing started",
        "action.view.onboarding-card-view": "Onboarding card shown",
        "action.tap.onboarding-card-primary-button": "Main button of an onboarding card tapped",
        "action.tap.onboarding-card-secondary-button": "Second button of an onboarding card tapped",
        "action.tap.onboarding-select-wallpaper": "Wallpaper chosen in the onboarding",
        "action.tap.onboarding-close": "Onboarding closed",
    ]

    private static let accountEvents: [CapturedText: String] = [
        "firefox_account.view.settings": "Sign-in opened from the settings",
        "firefox_account.view.app_menu": "Sign-in opened from the menu",
        "firefox_account.view.onboarding": "Sign-in opened from the onboarding",
        "firefox_account.email.connected": "Firefox account: login with an email address began",
        "firefox_account.pairing.connected": "Firefox account: login with a QR code began",
        "firefox_account.settings.connected": "Firefox account: settings of the account opened",
        "firefox_account.settings.disconnected": "Firefox account disconnected in the settings",
        "firefox_account.view.fxa-login-webpage": "Firefox account: login page shown",
        "firefox_account.view.fxa-login-complete-webpage": "Firefox account: login completed",
        "firefox_account.view.fxa-registration-webpage": "Firefox account: sign-up page shown",
        "firefox_account.view.fxa-registration-completed-webpage": "Firefox account: sign-up completed",
        "firefox_account.view.fxa-confirm-signup-code": "Firefox account: code for the sign-up asked for",
        "firefox_account.view.fxa-confirm-signin-token": "Firefox account: code for the login asked for",
        "action.tap.remove-unverified-account-button": "Unverified account removed",
        "action.open.sync-tab": "Synced tab opened",
        "action.tap.sync-sign-in": "Sign-in to sync chosen in the synced tabs",
        "action.tap.sync-create-account": "Creation of an account chosen in the synced tabs",
    ]

    /// The meanings of events that their value determines, keyed by category, method, object and value.
    private static let eventsWithValues: [CapturedText: String] = [
        "action.tap.reading-list-item.mark-as-read": "Marked as read in the reading list",
        "action.tap.reading-list-item.mark-as-unread": "Marked as unread in the reading list",
        "action.tap.download.downloads-panel": "Download opened in the downloads panel",
        "action.press.tab-toolbar.tab-view": "Tab view opened",
        "action.view.tab-tray.tabGroupWithExtras": "Groups of tabs counted",
        "action.tap.grouped-tab.recordCloseGroupedTab": "Group of tabs closed",
        "action.tap.inactiveTabTray.openInactiveTab": "Inactive tab opened",
        "action.tap.inactiveTabTray.inactive-Tab-Shown": "Inactive tabs shown",
        "action.tap.inactiveTabTray.inactivetab-expand": "Inactive tabs unfolded",
        "action.tap.inactiveTabTray.inactivetab-collapse": "Inactive tabs folded",
        "action.tap.inactiveTabTray.inactive-tab-close-all-button": "All inactive tabs closed",
        "action.tap.inactiveTabTray.inactive-tab-swipe-close": "Inactive tab closed by a swipe",
        "action.view.firefox-homepage.firefox-homepage-origin": "Home page shown",
        "action.open.firefox-homepage.open-home-from-awesomebar": "Home page opened from the URL bar",
        "action.open.firefox-homepage.open-home-from-photon-menu-button": "Home page opened from the menu",
        "action.view.firefox-homepage.recently-saved-bookmark-item-view": "Home page: recently saved bookmarks shown",
        "action.view.firefox-homepage.recently-saved-reading-list-view":
            "Home page: recently saved reading-list items shown",
        "action.tap.firefox-homepage.recently-saved-section-show-all": "Home page: all recently saved items opened",
        "action.tap.firefox-homepage.recently-saved-bookmark-item-action": "Home page: recently saved bookmark opened",
        "action.tap.firefox-homepage.recently-saved-reading-list-action":
            "Home page: recently saved reading-list item opened",
        "action.tap.firefox-homepage.jump-back-in-section-show-all": "Home page: all tabs of Jump Back In opened",
        "action.tap.firefox-homepage.jump-back-in-section-tab-opened": "Home page: tab of Jump Back In opened",
        "action.tap.firefox-homepage.jump-back-in-section-group-opened": "Home page: group of Jump Back In opened",
        "action.tap.firefox-homepage.history-highlights-show-all": "Home page: all highlights of the history opened",
        "action.tap.firefox-homepage.history-highlights-item-opened": "Home page: highlight of the history opened",
        "action.tap.firefox-homepage.history-highlights-group-open": "Home page: group of highlights opened",
        "action.tap.firefox-homepage.your-library-section": "Home page: library opened",
        "action.tap.firefox-homepage.customize-homepage-button": "Home page: customization opened",
        "action.tap.firefox-homepage.cycle-wallpaper-button": "Home page: next wallpaper chosen",
        "action.change.wallpaper-settings.toggle-logo-wallpaper-button": "Wallpaper change by the logo switched",
        "action.tap.wallpaper-settings.wallpaper-selected": "Wallpaper chosen in the settings",
        "action.tap.onboarding-select-wallpaper.wallpaper-selected": "Wallpaper chosen in the onboarding",
        "action.tap.contextual-hint.dismiss-cfr-from-button": "Hint closed with its button",
        "action.tap.contextual-hint.dismiss-cfr-from-outside-tap": "Hint closed by a tap beside it",
        "action.tap.contextual-hint.press-cfr-action-button": "Action of a hint chosen",
        "information.view.home-tab-banner.message-impression": "Message on the home page shown",
        "action.tap.home-tab-banner.message-dismissed": "Message on the home page dismissed",
        "action.tap.home-tab-banner.message-interacted": "Message on the home page followed",
        "information.view.home-tab-banner.message-expired": "Message on the home page expired",
        "information.application.home-tab-banner.message-malformed": "Message on the home page was malformed",
    ]
}

// MARK: - Words

extension FirefoxVocabulary {
    /// The meanings of methods that can have any object, as the end of a sentence.
    private static let methods: [CapturedText: String] = [
        "add": "added", "cancel": "canceled", "change": "changed", "click": "clicked", "close": "closed",
        "close-all": "closed completely", "delete": "deleted", "deleteAll": "deleted completely", "drag": "dragged",
        "drop": "dropped", "navigate": "reached", "open": "opened", "press": "pressed", "pull": "pulled",
        "scan": "scanned", "share": "shared", "swipe": "swiped", "tap": "tapped", "translate": "translated",
        "view": "shown",
    ]

    /// The meanings of objects, as the beginning of a sentence.
    private static let objects: [CapturedText: String] = [
        "add-new-tab-button": "Button for a new tab", "app": "App", "app_menu": "Menu",
        "awesomebar-results": "Results in the URL bar", "bookmark": "Bookmark", "bookmarks-panel": "Bookmarks panel",
        "china-server-switch": "Switch of the server for China",
        "clear-website-data-button": "Button to clear website data", "contextual-hint": "Hint",
        "default-browser-card": "Default-browser card", "default-browser-onboarding": "Default-browser onboarding",
        "download": "Download", "download-link-button": "Button to download a link",
        "download-now-button": "Button to start a download", "downloads-panel": "Downloads panel",
        "find-in-page": "Find in page", "firefox-homepage": "Home page", "grouped-tab": "Group of tabs",
        "home-page": "Home page", "home-tab-banner": "Message on the home page",
        "home-tab-banner-evergreen": "Default-browser card", "inactiveTabTray": "Inactive tabs",
        "key-command": "Keyboard command", "library": "Library", "library-panel": "Library panel",
        "location-bar": "URL bar", "logins-and-passwords": "Logins and passwords",
        "medium-top-sites-widget": "Top-sites widget", "onboarding": "Onboarding", "pocket-story": "Pocket story",
        "private-browsing-button": "Button for private browsing", "qr-code-text": "QR code without a URL",
        "qr-code-url": "QR code with a URL", "reader-mode-close-button": "Button to close reader mode",
        "reader-mode-open-button": "Button to open reader mode", "reading-list-item": "Reading-list item",
        "reload": "Reload of the page", "search-highlights": "Highlights among the search results",
        "searchText": "Search text", "setting": "Setting", "settings": "Settings",
        "start-search-button": "Button to start a search", "sync-tab": "Synced tab", "tab": "Tab",
        "tab-search": "Search of the open tabs", "tab-toolbar": "Tab toolbar", "tab-tray": "Tab tray",
        "top-site-tile": "Top site", "tracking-protection-menu": "Tracking-protection menu",
        "tracking-protection-safelist": "Safelist of tracking protection",
        "tracking-protection-statistics": "Statistics of tracking protection",
        "tracking-protection-whitelist": "Safelist of tracking protection", "url": "URL",
        "wallpaper-settings": "Wallpaper settings", "website-data-button": "Button for website data",
        "whats-new": "Page about new features",
    ]

    /// The meanings of values that tell more about an event, such as the part of the app in which it occurred.
    private static let values: [CapturedText: String] = [
        "activity-stream": "New Tab panel", "add-bookmark-toast": "message about the added bookmark",
        "app-menu": "app menu", "awesomebar-results": "results in the URL bar", "bookmark-item": "bookmark",
        "bookmarks-panel": "bookmarks panel", "browser": "page", "context-menu": "context menu",
        "download-complete-toast": "message about the completed download", "downloads-panel": "downloads panel",
        "history-item": "history", "history-panel": "history panel",
        "history-panel-grouped-item": "item of a group in the history",
        "history-panel-non-grouped-item": "item without a group in the history", "home-panel": "home panel",
        "home-panel-highlights": "highlights in the home panel",
        "home-panel-pocket-stories": "Pocket stories in the home panel",
        "home-panel-tab-button": "tab button of the home panel", "home-panel-top-sites": "top sites in the home panel",
        "long-press": "long press", "normal-tab": "not private",
        "openRecentlyClosedList": "list of recently closed tabs",
        "openRecentlyClosedTab": "recently closed tab", "opened-tab": "open tab", "origin-other": "not from a search",
        "page-action-menu": "page action menu", "private-tab": "private",
        "profile.prefkey.trackingprotection.strength": "strength of tracking protection",
        "reader-mode-toolbar": "toolbar of reader mode", "reading-list-panel": "reading-list panel",
        "reading-panel": "reading-list panel", "remote-tab": "tab of another device",
        "search-suggestion": "search suggestion", "share-extension": "share extension", "share-menu": "share menu",
        "show-translation": "offers of translations", "swipe": "swipe", "sync-panel": "synced-tabs panel",
        "system-theme-switch": "theme of the system", "tab-tray": "tab tray", "tab-view": "tab view",
        "theme-automatically": "by the brightness", "theme-dark": "dark", "theme-light": "light",
        "theme-manually": "by hand", "top-tabs": "top tabs", "wallpaper-selected": "wallpaper chosen",
        "your-library-section": "library", "zero-search": "from a search without text",
    ]

    /// The meanings of extras with a documented value.
    private static let extras: [CapturedText: String] = [
        "action=accept": "accepted", "action=decline": "declined", "gesture=long-press": "by a long press",
        "gesture=swipe": "by a swipe", "to=basic": "basic", "to=off": "off", "to=on": "on", "to=strict": "strict",
    ]
}
