import Mozilla
import Telemetry
import TestSupport
import Testing

/// Tests of the meanings of the events of Firefox for iOS.
///
/// The words are those in the enumerations of `UnifiedTelemetry.swift` and `TelemetryWrapper.swift`, from their first version
/// to the last with telemetry-ios, and in `Docs/telemetry.md`.
@Suite struct FirefoxVocabularyTests {
    /// Returns the meaning of an event, whose words are separated by spaces.
    private func label(_ event: String, extras: String? = nil, app: App? = App(name: "Fennec")) -> String? {
        let words = event.split(separator: " ").map { "\"\($0)\"" }
        let value = words.count < 4 && extras != nil ? ["null"] : []
        let tuple = (["1"] + words + value + [extras].compactMap(\.self)).joined(separator: ",")
        var labeler = EventLabeler()
        return labeler.labels(of: "{\"events\":[[\(tuple)]]}", system: .mozilla, type: "mobile-event", app: app)[0]
    }

    @Test(
        "Documented events have meanings.",
        arguments: documentedEvents)
    func events(event: String, meaning: String) {
        #expect(label(event) == meaning)
    }

    @Test(
        "Values determine or complete the meaning of an event.",
        arguments: valuedEvents)
    func values(event: String, meaning: String) {
        #expect(label(event) == meaning)
    }

    @Test(
        "The meaning of an event that is not listed consists of the meanings of its words.",
        arguments: composedEvents)
    func words(event: String, meaning: String) {
        #expect(label(event) == meaning)
    }

    @Test(
        "Extras with documented values complete the meaning of an event, and other extras do not change it.",
        arguments: [
            ("action translate tab", "action", "accept", "Offer of a translation answered: accepted"),
            ("action translate tab", "action", "decline", "Offer of a translation answered: declined"),
            ("action press key-command", "action", "reload", "Keyboard command used"),
            ("prompt translate tab", "from", "de", "Translation of a page offered"),
            ("prompt translate tab", "to", "fr", "Translation of a page offered"),
            (
                "action delete bookmark bookmarks-panel", "gesture", "long-press",
                "Bookmark deleted: bookmarks panel, by a long press"
            ),
            (
                "action delete bookmark bookmarks-panel", "gesture", "swipe",
                "Bookmark deleted: bookmarks panel, by a swipe"
            ),
            ("action delete bookmark bookmarks-panel", "gesture", "pinch", "Bookmark deleted: bookmarks panel"),
            ("action change setting show-translation", "to", "off", "Setting changed: offers of translations, off"),
            ("action change setting show-translation", "to", "on", "Setting changed: offers of translations, on"),
            (
                "action change setting profile.prefkey.trackingprotection.strength", "to", "basic",
                "Setting changed: strength of tracking protection, basic"
            ),
            (
                "action change setting profile.prefkey.trackingprotection.strength", "to", "strict",
                "Setting changed: strength of tracking protection, strict"
            ),
            ("action change setting", "pref", "showClipboardBar", "Setting changed"),
            ("action tap private-browsing-button", "is-private", "true", "Private browsing switched"),
            ("action press dismissed-onboarding", "slide-num", "2", "Onboarding dismissed"),
            (
                "firefox_account email connected", "flow_type", "email",
                "Firefox account: login with an email address began"
            ),
            ("enrollment add experiment-enrollment", "Experiment name", "a", "Enrolled in an experiment"),
            ("enrollment add experiment-enrollment", "Experiment id", "1", "Enrolled in an experiment"),
            ("enrollment add experiment-enrollment", "Experiment variant", "b", "Enrolled in an experiment"),
            ("action tap top-site-tile", "tilePosition", "1", "Top site opened"),
            ("action tap top-site-tile", "tileType", "history", "Top site opened"),
            ("action tap top-site-tile", "fxHomepageOrigin", "zero-search", "Top site opened"),
            ("action view top-site-contextual-menu", "contextualMenuType", "topSite", "Menu of a top site opened"),
            ("action tap pocket-story", "pocketTilePosition", "1", "Pocket story opened"),
            (
                "information background normal-tab-quantity", "tabsQuantity", "3",
                "Number of open tabs that are not private"
            ),
            (
                "action tap awesomebar-results", "awesomebarSearchTapType", "bookmark-item",
                "Result in the URL bar chosen"
            ),
            (
                "action tap wallpaper-settings wallpaper-selected", "wallpaperName", "a",
                "Wallpaper chosen in the settings"
            ),
            (
                "action tap wallpaper-settings wallpaper-selected", "wallpaperType", "b",
                "Wallpaper chosen in the settings"
            ),
            ("action tap contextual-hint press-cfr-action-button", "hintType", "toolbar", "Action of a hint chosen"),
            ("action view tab-tray tabGroupWithExtras", "groupsWithTwoTabsOnly", "1", "Groups of tabs counted"),
            ("action view tab-tray tabGroupWithExtras", "groupsWithTwoMoreTab", "1", "Groups of tabs counted"),
            ("action view tab-tray tabGroupWithExtras", "totalNumOfGroups", "1", "Groups of tabs counted"),
            ("action view tab-tray tabGroupWithExtras", "averageTabsInAllGroups", "1", "Groups of tabs counted"),
            ("action view tab-tray tabGroupWithExtras", "totalTabsInAllGroups", "1", "Groups of tabs counted"),
            ("action tap inactiveTabTray inactivetab-collapse", "collapsed", "1", "Inactive tabs folded"),
            ("action tap inactiveTabTray inactivetab-expand", "expanded", "1", "Inactive tabs unfolded"),
            (
                "information view home-tab-banner message-impression", "message-key", "a",
                "Message on the home page shown"
            ),
            ("action tap home-tab-banner message-interacted", "action-uuid", "a", "Message on the home page followed"),
            ("action voice-over app", "is-voice-over-running", "true", "State of VoiceOver"),
            ("action switch-control app", "is-switch-control-running", "true", "State of Switch Control"),
            (
                "action reduce-transparency app", "is-reduce-transparency-enabled", "true",
                "State of Reduce Transparency"
            ),
            ("action reduce-motion app", "is-reduce-motion-enabled", "true", "State of Reduce Motion"),
            ("action invert-colors app", "is-invert-colors-enabled", "true", "State of Invert Colors"),
            ("action view onboarding-card-view", "card-type", "welcome", "Onboarding card shown"),
            (
                "action view firefox-homepage recently-saved-bookmark-item-view", "recently-saved-bookmark-impressions",
                "2",
                "Home page: recently saved bookmarks shown"
            ),
            (
                "action view firefox-homepage recently-saved-reading-list-view",
                "recently-saved-reading-items-impressions", "2",
                "Home page: recently saved reading-list items shown"
            ),
        ])
    func extras(event: String, key: String, value: String, meaning: String) {
        #expect(label(event, extras: "{\"\(key)\":\"\(value)\"}") == meaning)
    }

    @Test(
        "7.4: Words that the SDK truncated are recognized.",
        arguments: [
            ("action tap reader-mode-open-but", "Reader mode opened"),
            ("action tap reader-mode-close-bu", "Reader mode closed"),
            ("action view tracking-protection-", "Statistics of tracking protection opened"),
            ("app-extension-action application-open-url url", "Share extension: page opened in Firefox"),
        ])
    func truncatedWords(event: String, meaning: String) {
        #expect(label(event) == meaning)
    }

    @Test(
        "Undocumented words have no meaning.",
        arguments: [
            "action ponder tab", "action tap ponder", "ponder tap tab", "prompt tap tab", "enrollment add tab",
            "app-extension-action tap tab", "action foreground tab", "action.add tab x", "action add.tab x",
        ])
    func undocumented(event: String) {
        #expect(label(event) == nil)
    }

    @Test("An undocumented value does not change the meaning of an event, nor does an empty one.")
    func otherValues() {
        #expect(label("action add bookmark ponder") == "Bookmark added")
        var labeler = EventLabeler()
        let payload = #"{"events":[[1,"action","add","bookmark",""],[1,"action","add","bookmark",7,8],[1,"action"]]}"#
        #expect(
            labeler.labels(of: payload, system: .mozilla, type: "mobile-event", app: App(name: "Fennec"))
                == ["Bookmark added", "Bookmark added", nil])
    }

    @Test("Each documented word has a meaning in one of the tests.")
    func coverage() {
        let events = Self.documentedEvents + Self.valuedEvents + Self.composedEvents
        let rows = events.map { $0.event.split(separator: " ") }
        for (index, words) in Self.documentedWords.enumerated() {
            let missing = Set(words.split(whereSeparator: \.isWhitespace)).subtracting(
                rows.filter { $0.count > index }.map { $0[index] })
            #expect(missing.isEmpty)
        }
    }

    /// The categories, methods, objects and values in the sources.
    private static let documentedWords = [
        "action app-extension-action prompt enrollment firefox_account information",
        """
        add background cancel change close close-all delete deleteAll drag drop foreground swipe navigate open press
        pull scan share tap translate view application-open-url email pairing settings application voice-over
        reduce-transparency reduce-motion invert-colors switch-control click send-to-device bookmark-this-page
        add-to-reading-list load-in-background
        """,
        """
        app bookmark awesomebar-results bookmarks-panel download download-link-button download-now-button
        downloads-panel key-command location-bar qr-code-text qr-code-url reader-mode-close-button
        reader-mode-open-button reading-list-item setting tab tab-tray normal-tab-quantity private-tab-quantity
        grouped-tab grouped-tab-perform-search tracking-protection-statistics tracking-protection-safelist
        tracking-protection-whitelist tracking-protection-menu url searchText whats-new
        dismissed-update-cover_sheet_and_start_browsing dismissed-update-cover-sheet dismissed-etp-sheet
        dismissed-etp-cover-sheet-and-start-browsing dismissed-update-cover-sheet-and-go-to-settings
        dismissed-onboarding dismissed-onboarding-email-login dismissed-onboarding-sign-up private-browsing-button
        start-search-button add-new-tab-button remove-unverified-account-button tab-search tab-toolbar
        experiment-enrollment china-server-switch connected disconnected app_menu settings
        set-as-default-browser-menu-go-to-settings onboarding-close onboarding-card-view
        onboarding-card-primary-button onboarding-card-secondary-button onboarding-select-wallpaper onboarding
        welcome-screen-view welcome-screen-close welcome-screen-sign-in welcome-screen-sign-up welcome-screen-next
        sync-screen-view sync-screen-sign-up sync-screen-start-browse default-browser-card
        default-browser-card-go-to-settings default-browser-onboarding default-browser-onboarding-go-to-settings
        home-tab-banner-evergreen as-default-browser medium-tabs-widget-url large-tabs-widget-url
        small-quick-action-search medium-quick-action-search medium-quick-action-private-search
        medium-quick-action-copied-link medium-quick-action-close-private medium-top-sites-widget top-site-tile
        top-site-contextual-menu history-highlights-contextual-menu pocket-story pocket-section-impression library
        home-page home-tab-banner block-images-enabled block-images-disabled navigate-tab-history-back
        navigate-tab-history-back-swipe navigate-tab-history-forward night-mode-enabled night-mode-disabled
        logins-and-passwords sign-into-sync sync-tab sync-sign-in sync-create-account library-panel
        navigate-to-group-history selected-history-item search-history delete-history share-page-with send-to-device
        copy-address report-site-issue find-in-page request-desktop-site request-mobile-site pin-to-top-sites
        remove-pinned-site firefox-homepage wallpaper-settings contextual-hint jump-back-in-impressions
        history-highlights-impressions inactiveTabTray reload reload-from-url-bar fxa-login-webpage
        fxa-login-complete-webpage fxa-registration-webpage fxa-registration-completed-webpage fxa-confirm-signup-code
        fxa-confirm-signin-token awesomebar-position search-highlights clear-sd-webimage-cache website-data-button
        search-website-data clear-website-data-button show-top-sites-button show-blank-page-button
        show-bookmarks-button show-history-button show-homepage-button
        """,
        """
        activity-stream app-menu awesomebar-results browser context-menu download-complete-toast home-panel
        home-panel-tab-button home-panel-highlights home-panel-pocket-stories home-panel-top-sites long-press swipe
        mark-as-read mark-as-unread page-action-menu reader-mode-toolbar reading-list-panel share-extension share-menu
        tab-tray top-tabs system-theme-switch theme-manually theme-automatically theme-light theme-dark private-tab
        normal-tab tab-view bookmarks-panel history-panel history-panel-non-grouped-item history-panel-grouped-item
        reading-panel downloads-panel sync-panel your-library-section jump-back-in-section-show-all
        jump-back-in-section-tab-opened jump-back-in-section-group-opened recently-saved-section-show-all
        recently-saved-bookmark-item-action recently-saved-bookmark-item-view recently-saved-reading-list-view
        recently-saved-reading-list-action history-highlights-show-all history-highlights-item-opened
        history-highlights-group-open customize-homepage-button cycle-wallpaper-button toggle-logo-wallpaper-button
        wallpaper-selected dismiss-cfr-from-button dismiss-cfr-from-outside-tap press-cfr-action-button
        firefox-homepage-origin zero-search origin-other add-bookmark-toast open-home-from-awesomebar
        open-home-from-photon-menu-button openInactiveTab inactive-Tab-Shown inactivetab-expand inactivetab-collapse
        inactive-tab-close-all-button inactive-tab-swipe-close openRecentlyClosedTab openRecentlyClosedList
        tabGroupWithExtras recordCloseGroupedTab message-impression message-dismissed message-interacted
        message-expired message-malformed history-item remote-tab opened-tab bookmark-item search-suggestion
        show-translation profile.prefkey.trackingprotection.strength
        """,
    ]

    /// Returns the events and the meanings in the lines of `table`.
    private static func rows(_ table: String) -> [(event: String, meaning: String)] {
        table.split(separator: "\n").map { line in
            let parts = line.split(separator: " -> ")
            return (String(parts[0]), String(parts[1]))
        }
    }

    private static let documentedEvents = rows(
        """
        action foreground app -> App came to the front
        action background app -> App went to the background
        action voice-over app -> State of VoiceOver
        action switch-control app -> State of Switch Control
        action reduce-transparency app -> State of Reduce Transparency
        action reduce-motion app -> State of Reduce Motion
        action invert-colors app -> State of Invert Colors
        action open as-default-browser -> App opened as the default browser
        app-extension-action send-to-device url -> Share extension: page sent to a device
        app-extension-action application-open-url url -> Share extension: page opened in Firefox
        app-extension-action application-open-url searchText -> Share extension: text searched in Firefox
        app-extension-action bookmark-this-page url -> Share extension: bookmark added
        app-extension-action add-to-reading-list url -> Share extension: added to the reading list
        app-extension-action load-in-background url -> Share extension: page loaded in the background
        enrollment add experiment-enrollment -> Enrolled in an experiment
        information delete clear-sd-webimage-cache -> Old image cache cleared
        action change bookmark -> Bookmark edited
        action tap reader-mode-open-button -> Reader mode opened
        action tap reader-mode-close-button -> Reader mode closed
        action add reading-list-item -> Added to the reading list
        action open reading-list-item -> Opened from the reading list
        action delete reading-list-item -> Removed from the reading list
        action scan qr-code-url -> QR code with a URL scanned
        action scan qr-code-text -> QR code without a URL scanned
        action drag location-bar -> Dragged from the URL bar
        action drop location-bar -> Dropped on the URL bar
        action drag url -> URL dragged
        action drop url -> URL dropped
        action tap start-search-button -> Search started from the tab tray
        action tap awesomebar-results -> Result in the URL bar chosen
        information view awesomebar-position -> Position of the URL bar
        action tap download-link-button -> Download of a link chosen
        action tap download-now-button -> Download started
        action cancel download -> Download canceled
        action press key-command -> Keyboard command used
        action pull reload -> Page reloaded by pulling
        action tap reload-from-url-bar -> Page reloaded with the URL bar
        action tap navigate-tab-history-back -> Went back in the tab
        action press navigate-tab-history-back -> History of the tab opened from the back button
        action swipe navigate-tab-history-back-swipe -> Swiped back in the tab
        action tap navigate-tab-history-forward -> Went forward in the tab
        action press navigate-tab-history-forward -> History of the tab opened from the forward button
        prompt translate tab -> Translation of a page offered
        action translate tab -> Offer of a translation answered
        action add tracking-protection-safelist -> Tracking protection switched for a site
        action add tracking-protection-whitelist -> Site added to the safelist of tracking protection
        action view tracking-protection-statistics -> Statistics of tracking protection opened
        action press tracking-protection-menu -> Tracking-protection menu opened
        action click tracking-protection-menu -> Tracking-protection menu opened
        action tap top-site-tile -> Top site opened
        action view top-site-contextual-menu -> Menu of a top site opened
        action tap pocket-story -> Pocket story opened
        action view pocket-section-impression -> Pocket stories shown
        action view jump-back-in-impressions -> Section Jump Back In shown
        action view history-highlights-impressions -> Highlights of the history shown
        action view history-highlights-contextual-menu -> Menu of a highlight of the history opened
        action navigate navigate-to-group-history -> Group in the history opened
        action tap selected-history-item -> Page opened from the history
        action tap search-history -> Search of the history opened
        action tap delete-history -> Deletion of the history opened
        action tap share-page-with -> Page shared
        action tap send-to-device -> Page sent to a device
        action tap copy-address -> Address of the page copied
        action tap report-site-issue -> Problem with a site reported
        action tap find-in-page -> Find in page opened
        action tap request-desktop-site -> Desktop site requested
        action tap request-mobile-site -> Mobile site requested
        action tap pin-to-top-sites -> Page pinned to the top sites
        action tap remove-pinned-site -> Page removed from the pinned top sites
        action tap home-page -> Home page opened from the menu
        action tap library -> Library opened from the menu
        action tap logins-and-passwords -> Logins and passwords opened
        action tap sign-into-sync -> Sign-in to sync opened
        action tap block-images-enabled -> Images blocked
        action tap block-images-disabled -> Images no longer blocked
        action tap night-mode-enabled -> Night mode switched on
        action tap night-mode-disabled -> Night mode switched off
        action open whats-new -> Page about new features opened
        action open settings -> Settings opened from the menu
        action add tab -> Tab opened
        action close tab -> Tab closed
        action delete tab -> Tab closed
        action close-all tab -> All tabs closed
        action deleteAll tab -> All tabs closed
        action tap tab -> Tab chosen in the tab tray
        action press tab -> Tab chosen in the top tabs
        action navigate tab -> Page loaded in a tab
        action drag tab -> Tab dragged
        action drop tab -> Tab dropped
        action press tab-search -> Search of the open tabs used
        action press tab-toolbar -> Button of the tab toolbar pressed
        action tap add-new-tab-button -> New tab opened from the URL bar
        action tap private-browsing-button -> Private browsing switched
        action open tab-tray -> Tab tray opened
        action close tab-tray -> Tab tray closed
        action tap grouped-tab-perform-search -> Search repeated from a group of tabs
        information background normal-tab-quantity -> Number of open tabs that are not private
        information background private-tab-quantity -> Number of open private tabs
        action open medium-tabs-widget-url -> Medium tabs widget opened a page
        action open large-tabs-widget-url -> Large tabs widget opened a page
        action open small-quick-action-search -> Small widget opened a search
        action open medium-quick-action-search -> Medium widget opened a search
        action open medium-quick-action-private-search -> Medium widget opened a private search
        action open medium-quick-action-copied-link -> Medium widget opened the copied link
        action open medium-quick-action-close-private -> Medium widget closed the private tabs
        action open medium-top-sites-widget -> Top-sites widget opened a page
        action change setting -> Setting changed
        action press setting -> Setting of the theme changed
        action tap website-data-button -> Website data opened
        action tap search-website-data -> Website data searched
        action tap clear-website-data-button -> All website data cleared
        action tap show-top-sites-button -> New tabs show the top sites
        action tap show-blank-page-button -> New tabs show a blank page
        action tap show-bookmarks-button -> New tabs show the bookmarks
        action tap show-history-button -> New tabs show the history
        action tap show-homepage-button -> New tabs show the home page
        action tap china-server-switch -> Server for China switched
        action open set-as-default-browser-menu-go-to-settings -> Setting for the default browser opened
        action tap default-browser-card -> Default-browser card dismissed
        action tap default-browser-card-go-to-settings -> Default-browser card led to the settings
        action tap default-browser-onboarding -> Default-browser onboarding dismissed
        action tap default-browser-onboarding-go-to-settings -> Default-browser onboarding led to the settings
        information view home-tab-banner-evergreen -> Default-browser card shown
        action press dismissed-onboarding -> Onboarding dismissed
        action press dismissed-onboarding-email-login -> Onboarding dismissed, login shown
        action press dismissed-onboarding-sign-up -> Onboarding dismissed, sign-up shown
        action press dismissed-update-cover_sheet_and_start_browsing -> Update sheet dismissed, browsing started
        action press dismissed-update-cover-sheet -> Update sheet dismissed
        action press dismissed-etp-sheet -> Tracking-protection sheet dismissed
        action press dismissed-etp-cover-sheet-and-start-browsing -> Tracking-protection sheet dismissed, browsing started
        action press dismissed-update-cover-sheet-and-go-to-settings -> Tracking-protection sheet led to the settings
        action view welcome-screen-view -> Welcome screen shown
        action press welcome-screen-close -> Welcome screen closed
        action press welcome-screen-sign-in -> Welcome screen led to the sign-in
        action press welcome-screen-sign-up -> Welcome screen led to the sign-up
        action press welcome-screen-next -> Welcome screen left for the next one
        action view sync-screen-view -> Onboarding screen about sync shown
        action press sync-screen-sign-up -> Onboarding screen about sync led to the sign-up
        action press sync-screen-start-browse -> Onboarding screen about sync left, browsing started
        action view onboarding-card-view -> Onboarding card shown
        action tap onboarding-card-primary-button -> Main button of an onboarding card tapped
        action tap onboarding-card-secondary-button -> Second button of an onboarding card tapped
        action tap onboarding-select-wallpaper -> Wallpaper chosen in the onboarding
        action tap onboarding-close -> Onboarding closed
        firefox_account view settings -> Sign-in opened from the settings
        firefox_account view app_menu -> Sign-in opened from the menu
        firefox_account view onboarding -> Sign-in opened from the onboarding
        firefox_account email connected -> Firefox account: login with an email address began
        firefox_account pairing connected -> Firefox account: login with a QR code began
        firefox_account settings connected -> Firefox account: settings of the account opened
        firefox_account settings disconnected -> Firefox account disconnected in the settings
        firefox_account view fxa-login-webpage -> Firefox account: login page shown
        firefox_account view fxa-login-complete-webpage -> Firefox account: login completed
        firefox_account view fxa-registration-webpage -> Firefox account: sign-up page shown
        firefox_account view fxa-registration-completed-webpage -> Firefox account: sign-up completed
        firefox_account view fxa-confirm-signup-code -> Firefox account: code for the sign-up asked for
        firefox_account view fxa-confirm-signin-token -> Firefox account: code for the login asked for
        action tap remove-unverified-account-button -> Unverified account removed
        action open sync-tab -> Synced tab opened
        action tap sync-sign-in -> Sign-in to sync chosen in the synced tabs
        action tap sync-create-account -> Creation of an account chosen in the synced tabs
        """)

    private static let valuedEvents = rows(
        """
        action tap reading-list-item mark-as-read -> Marked as read in the reading list
        action tap reading-list-item mark-as-unread -> Marked as unread in the reading list
        action tap download downloads-panel -> Download opened in the downloads panel
        action press tab-toolbar tab-view -> Tab view opened
        action view tab-tray tabGroupWithExtras -> Groups of tabs counted
        action tap grouped-tab recordCloseGroupedTab -> Group of tabs closed
        action tap inactiveTabTray openInactiveTab -> Inactive tab opened
        action tap inactiveTabTray inactive-Tab-Shown -> Inactive tabs shown
        action tap inactiveTabTray inactivetab-expand -> Inactive tabs unfolded
        action tap inactiveTabTray inactivetab-collapse -> Inactive tabs folded
        action tap inactiveTabTray inactive-tab-close-all-button -> All inactive tabs closed
        action tap inactiveTabTray inactive-tab-swipe-close -> Inactive tab closed by a swipe
        action view firefox-homepage firefox-homepage-origin -> Home page shown
        action open firefox-homepage open-home-from-awesomebar -> Home page opened from the URL bar
        action open firefox-homepage open-home-from-photon-menu-button -> Home page opened from the menu
        action view firefox-homepage recently-saved-bookmark-item-view -> Home page: recently saved bookmarks shown
        action view firefox-homepage recently-saved-reading-list-view -> Home page: recently saved reading-list items shown
        action tap firefox-homepage recently-saved-section-show-all -> Home page: all recently saved items opened
        action tap firefox-homepage recently-saved-bookmark-item-action -> Home page: recently saved bookmark opened
        action tap firefox-homepage recently-saved-reading-list-action -> Home page: recently saved reading-list item opened
        action tap firefox-homepage jump-back-in-section-show-all -> Home page: all tabs of Jump Back In opened
        action tap firefox-homepage jump-back-in-section-tab-opened -> Home page: tab of Jump Back In opened
        action tap firefox-homepage jump-back-in-section-group-opened -> Home page: group of Jump Back In opened
        action tap firefox-homepage history-highlights-show-all -> Home page: all highlights of the history opened
        action tap firefox-homepage history-highlights-item-opened -> Home page: highlight of the history opened
        action tap firefox-homepage history-highlights-group-open -> Home page: group of highlights opened
        action tap firefox-homepage your-library-section -> Home page: library opened
        action tap firefox-homepage customize-homepage-button -> Home page: customization opened
        action tap firefox-homepage cycle-wallpaper-button -> Home page: next wallpaper chosen
        action change wallpaper-settings toggle-logo-wallpaper-button -> Wallpaper change by the logo switched
        action tap wallpaper-settings wallpaper-selected -> Wallpaper chosen in the settings
        action tap onboarding-select-wallpaper wallpaper-selected -> Wallpaper chosen in the onboarding
        action tap contextual-hint dismiss-cfr-from-button -> Hint closed with its button
        action tap contextual-hint dismiss-cfr-from-outside-tap -> Hint closed by a tap beside it
        action tap contextual-hint press-cfr-action-button -> Action of a hint chosen
        information view home-tab-banner message-impression -> Message on the home page shown
        action tap home-tab-banner message-dismissed -> Message on the home page dismissed
        action tap home-tab-banner message-interacted -> Message on the home page followed
        information view home-tab-banner message-expired -> Message on the home page expired
        information application home-tab-banner message-malformed -> Message on the home page was malformed
        action add bookmark activity-stream -> Bookmark added: New Tab panel
        action add bookmark add-bookmark-toast -> Bookmark added: message about the added bookmark
        action add bookmark app-menu -> Bookmark added: app menu
        action add bookmark awesomebar-results -> Bookmark added: results in the URL bar
        action add bookmark bookmark-item -> Bookmark added: bookmark
        action add bookmark bookmarks-panel -> Bookmark added: bookmarks panel
        action add bookmark browser -> Bookmark added: page
        action add bookmark context-menu -> Bookmark added: context menu
        action add bookmark download-complete-toast -> Bookmark added: message about the completed download
        action add bookmark downloads-panel -> Bookmark added: downloads panel
        action add bookmark history-item -> Bookmark added: history
        action add bookmark history-panel -> Bookmark added: history panel
        action add bookmark history-panel-grouped-item -> Bookmark added: item of a group in the history
        action add bookmark history-panel-non-grouped-item -> Bookmark added: item without a group in the history
        action add bookmark home-panel -> Bookmark added: home panel
        action add bookmark home-panel-highlights -> Bookmark added: highlights in the home panel
        action add bookmark home-panel-pocket-stories -> Bookmark added: Pocket stories in the home panel
        action add bookmark home-panel-tab-button -> Bookmark added: tab button of the home panel
        action add bookmark home-panel-top-sites -> Bookmark added: top sites in the home panel
        action add bookmark long-press -> Bookmark added: long press
        action add bookmark normal-tab -> Bookmark added: not private
        action add bookmark openRecentlyClosedList -> Bookmark added: list of recently closed tabs
        action add bookmark openRecentlyClosedTab -> Bookmark added: recently closed tab
        action add bookmark opened-tab -> Bookmark added: open tab
        action add bookmark origin-other -> Bookmark added: not from a search
        action add bookmark page-action-menu -> Bookmark added: page action menu
        action add bookmark private-tab -> Bookmark added: private
        action add bookmark profile.prefkey.trackingprotection.strength -> Bookmark added: strength of tracking protection
        action add bookmark reader-mode-toolbar -> Bookmark added: toolbar of reader mode
        action add bookmark reading-list-panel -> Bookmark added: reading-list panel
        action add bookmark reading-panel -> Bookmark added: reading-list panel
        action add bookmark remote-tab -> Bookmark added: tab of another device
        action add bookmark search-suggestion -> Bookmark added: search suggestion
        action add bookmark share-extension -> Bookmark added: share extension
        action add bookmark share-menu -> Bookmark added: share menu
        action add bookmark show-translation -> Bookmark added: offers of translations
        action add bookmark swipe -> Bookmark added: swipe
        action add bookmark sync-panel -> Bookmark added: synced-tabs panel
        action add bookmark system-theme-switch -> Bookmark added: theme of the system
        action add bookmark tab-tray -> Bookmark added: tab tray
        action add bookmark tab-view -> Bookmark added: tab view
        action add bookmark theme-automatically -> Bookmark added: by the brightness
        action add bookmark theme-dark -> Bookmark added: dark
        action add bookmark theme-light -> Bookmark added: light
        action add bookmark theme-manually -> Bookmark added: by hand
        action add bookmark top-tabs -> Bookmark added: top tabs
        action add bookmark wallpaper-selected -> Bookmark added: wallpaper chosen
        action add bookmark your-library-section -> Bookmark added: library
        action add bookmark zero-search -> Bookmark added: from a search without text
        """)

    private static let composedEvents = rows(
        """
        action add library -> Library added
        action cancel library -> Library canceled
        action change library -> Library changed
        action click library -> Library clicked
        action close library -> Library closed
        action close-all library -> Library closed completely
        action delete library -> Library deleted
        action deleteAll library -> Library deleted completely
        action drag library -> Library dragged
        action drop library -> Library dropped
        action navigate library -> Library reached
        action open library -> Library opened
        action press library -> Library pressed
        action pull library -> Library pulled
        action scan library -> Library scanned
        action share library -> Library shared
        action swipe library -> Library swiped
        action tap whats-new -> Page about new features tapped
        action translate library -> Library translated
        action view library -> Library shown
        action share add-new-tab-button -> Button for a new tab shared
        action share app -> App shared
        action share app_menu -> Menu shared
        action share awesomebar-results -> Results in the URL bar shared
        action share bookmark -> Bookmark shared
        action share bookmarks-panel -> Bookmarks panel shared
        action share china-server-switch -> Switch of the server for China shared
        action share clear-website-data-button -> Button to clear website data shared
        action share contextual-hint -> Hint shared
        action share default-browser-card -> Default-browser card shared
        action share default-browser-onboarding -> Default-browser onboarding shared
        action share download -> Download shared
        action share download-link-button -> Button to download a link shared
        action share download-now-button -> Button to start a download shared
        action share downloads-panel -> Downloads panel shared
        action share find-in-page -> Find in page shared
        action share firefox-homepage -> Home page shared
        action share grouped-tab -> Group of tabs shared
        action share home-page -> Home page shared
        action share home-tab-banner -> Message on the home page shared
        action share home-tab-banner-evergreen -> Default-browser card shared
        action share inactiveTabTray -> Inactive tabs shared
        action share key-command -> Keyboard command shared
        action share library -> Library shared
        action share library-panel -> Library panel shared
        action share location-bar -> URL bar shared
        action share logins-and-passwords -> Logins and passwords shared
        action share medium-top-sites-widget -> Top-sites widget shared
        action share onboarding -> Onboarding shared
        action share pocket-story -> Pocket story shared
        action share private-browsing-button -> Button for private browsing shared
        action share qr-code-text -> QR code without a URL shared
        action share qr-code-url -> QR code with a URL shared
        action share reader-mode-close-button -> Button to close reader mode shared
        action share reader-mode-open-button -> Button to open reader mode shared
        action share reading-list-item -> Reading-list item shared
        action share reload -> Reload of the page shared
        action share search-highlights -> Highlights among the search results shared
        action share searchText -> Search text shared
        action share setting -> Setting shared
        action share settings -> Settings shared
        action share start-search-button -> Button to start a search shared
        action share sync-tab -> Synced tab shared
        action share tab -> Tab shared
        action share tab-search -> Search of the open tabs shared
        action share tab-toolbar -> Tab toolbar shared
        action share tab-tray -> Tab tray shared
        action share top-site-tile -> Top site shared
        action share tracking-protection-menu -> Tracking-protection menu shared
        action share tracking-protection-safelist -> Safelist of tracking protection shared
        action share tracking-protection-statistics -> Statistics of tracking protection shared
        action share tracking-protection-whitelist -> Safelist of tracking protection shared
        action share url -> URL shared
        action share wallpaper-settings -> Wallpaper settings shared
        action share website-data-button -> Button for website data shared
        action share whats-new -> Page about new features shared
        """)
}
