import Bytes

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
