import Bytes

/// A telemetry or crash reporting SDK whose data is not read, and the names of its queues.
///
/// The names are from the published sources of the SDKs and from published listings of app containers. Only names are
/// compared. A name that other programs use as well requires the name of the enclosing folder.
public struct OtherSDK: Sendable {
    /// The name of a file or folder that contains a queue.
    struct QueueName: Sendable {
        enum Form: Sendable {
            case whole, prefix, suffix
        }

        let text: [UInt8]
        let form: Form
        let isFolder: Bool
        /// The name of the enclosing folder, or `nil` if every folder is accepted.
        let folder: [UInt8]?

        func matches(_ name: [UInt8], in folder: some Sequence<UInt8>) -> Bool {
            let isMatch =
                switch form {
                case .whole: name == text
                case .prefix: name.starts(with: text)
                case .suffix: name.suffix(text.count) == text[...]
                }
            return isMatch && (self.folder.map { folder.elementsEqual($0) } ?? true)
        }
    }

    let name: String
    let queues: [QueueName]

    /// Returns the name of the SDK that uses an entry for its queue, or `nil` if no SDK is known for the name.
    ///
    /// `isFolder` is `nil` if it is unknown whether the entry is a file or a folder. `folder` is the name of the folder
    /// that contains the entry.
    public static func name(ofEntry name: [UInt8], isFolder: Bool?, in folder: some Sequence<UInt8>) -> String? {
        all.first { sdk in
            sdk.queues.contains { ($0.isFolder == isFolder ?? $0.isFolder) && $0.matches(name, in: folder) }
        }?.name
    }

    private static let all = [
        OtherSDK(
            name: "Amplitude",
            queues: [.files(prefix: "com.amplitude.database"), .folder("amplitude", in: "Application Support")]),
        OtherSDK(name: "App Center", queues: [.folder("com.microsoft.appcenter")]),
        OtherSDK(name: "Bugsnag", queues: [.folder("com.bugsnag.Bugsnag")]),
        OtherSDK(name: "Crashlytics", queues: [.folder("com.crashlytics.data")]),
        OtherSDK(name: "Flurry", queues: [.folder("FlurryFiles")]),
        OtherSDK(
            name: "Google Analytics for Firebase",
            queues: [.file("google-app-measurement.sql")]),
        OtherSDK(name: "Google Analytics", queues: [.files(prefix: "googleanalytics-")]),
        OtherSDK(name: "Google Data Transport", queues: [.folder("google-sdks-events")]),
        OtherSDK(
            name: "Mixpanel",
            queues: [
                .files(suffix: "_MPDB.sqlite"), .files(prefix: "mixpanel-", in: "Library"),
            ]),
        OtherSDK(
            name: "PLCrashReporter", queues: [.folder("com.plausiblelabs.crashreporter.data")]),
        OtherSDK(
            name: "Segment", queues: [.file("segmentio.queue.plist"), .folder("segment", in: "Documents")]),
        OtherSDK(name: "Sentry", queues: [.folder("io.sentry"), .folder("SentryCrash")]),
    ]
}

extension OtherSDK.QueueName {
    fileprivate static func file(_ name: String) -> Self { Self(name, .whole, isFolder: false, in: nil) }

    fileprivate static func files(prefix: String, in folder: String? = nil) -> Self {
        Self(prefix, .prefix, isFolder: false, in: folder)
    }

    fileprivate static func files(suffix: String) -> Self { Self(suffix, .suffix, isFolder: false, in: nil) }

    fileprivate static func folder(_ name: String, in folder: String? = nil) -> Self {
        Self(name, .whole, isFolder: true, in: folder)
    }

    private init(_ text: String, _ form: Form, isFolder: Bool, in folder: String?) {
        self.init(text: Array(text.utf8), form: form, isFolder: isFolder, folder: folder.map { Array($0.utf8) })
    }
}
