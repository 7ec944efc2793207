extension MozillaVocabulary {
    /// What the events of WebXR Viewer mean: the documented words, and those that the app really sends.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.1.
    static let webXR = MozillaVocabulary([
        MozillaEventMeaning("foreground", "app", means: "App came to the front"),
        MozillaEventMeaning("background", "app", means: "App went to the background"),
        MozillaEventMeaning("WebXR", "init", category: "api", means: "Page started WebXR"),
        MozillaEventMeaning("webXR", "init", category: "api", means: "Page started WebXR"),
        MozillaEventMeaning("record_video_button", "app", means: "Video recording started"),
        MozillaEventMeaning("tap", "record_video_button", means: "Video recording started"),
        MozillaEventMeaning("record_picture_button", "app", means: "Picture taken"),
        MozillaEventMeaning("tap", "record_picture_button", means: "Picture taken"),
        MozillaEventMeaning("release_video_button", "app", means: "Video recording ended"),
        MozillaEventMeaning("tap", "release_video_button", means: "Video recording ended"),
    ])
}
