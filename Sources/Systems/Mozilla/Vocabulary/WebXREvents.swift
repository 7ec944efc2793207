extension EventMeanings {
    /// The meanings of the events of WebXR Viewer, with the documented words and the words that the app actually sends.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.1.
    static let webXR = EventMeanings([
        EventMeaning("foreground", "app", means: "App came to the front"),
        EventMeaning("background", "app", means: "App went to the background"),
        EventMeaning("WebXR", "init", category: "api", means: "Page started WebXR"),
        EventMeaning("webXR", "init", category: "api", means: "Page started WebXR"),
        EventMeaning("record_video_button", "app", means: "Video recording started"),
        EventMeaning("tap", "record_video_button", means: "Video recording started"),
        EventMeaning("record_picture_button", "app", means: "Picture taken"),
        EventMeaning("tap", "record_picture_button", means: "Picture taken"),
        EventMeaning("release_video_button", "app", means: "Video recording ended"),
        EventMeaning("tap", "release_video_button", means: "Video recording ended"),
    ])
}
