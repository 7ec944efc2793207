import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the names of files and folders (section 1.1 of the format document).
@Suite struct MozillaNameTests {
    @Test(
        "Folders of pings are recognized by their names",
        arguments: [
            ("MozTelemetry-Default-core", "core"), ("MozTelemetry-Default-focus-event", "focus-event"),
            ("MozTelemetry-Default-mobile-event", "mobile-event"), ("MozTelemetry-core", "core"),
            ("MozTelemetry-Default-unknown", "unknown"), ("MozTelemetry-focus-event", "focus-event"),
            ("MyApp-Storage-core", "core"), ("x-focus-event", "focus-event"), ("-core", "core"),
        ])
    func pingFolders(name: String, type: String) {
        #expect(MozillaName(folder: name) == .pingFolder(type: type))
        #expect(MozillaName.pingType(in: name) == type)
    }

    @Test(
        "Other folders are not recognized",
        arguments: [
            "Documents", "core", "focus-event", "x-event", "MozTelemetry", "score", "x-cores", "", "node_modules",
        ])
    func otherFolders(name: String) {
        #expect(MozillaName(folder: name) == nil)
    }

    @Test(
        "Files are recognized by their names",
        arguments: [
            ("MozTelemetry-Default-core.json", .pingArray(type: "core")),
            ("MozTelemetry-focus-event.json", .pingArray(type: "focus-event")),
            ("MozTelemetry-Default-core-1507161600.25014.json", .pingArray(type: "core")),
            ("MyApp-mobile-event-1507161600.25014.json", .pingArray(type: "mobile-event")),
            ("MyApp-core.json", .pingArray(type: "core")),
            ("MozTelemetry-Default-values.json", .values), ("MozTelemetry-values.json", .values),
            ("MyApp-values.json", .values),
            ("eventArray-MozTelemetry-Default-focus-event.json", .pendingEvents(type: "focus-event")),
            ("eventArray-MozTelemetry-mobile-event.json", .pendingEvents(type: "mobile-event")),
            ("eventArray-MyApp-core.json", .pendingEvents(type: "core")),
            ("MozTelemetry-Default.plist", .datedMeasurements), ("MozTelemetry.plist", .datedMeasurements),
        ] as [(String, MozillaName)])
    func files(name: String, meaning: MozillaName) {
        #expect(MozillaName(file: name, in: "Documents") == meaning)
    }

    @Test(
        "Other files are not recognized",
        arguments: [
            "package.json", "core.json", "-t-1527163208.41924.json", "1508860835.51251.json", "MozTelemetry-Default",
            "MozTelemetry-Default-core", "MozTelemetry-Default-core.json.gz", "org.mozilla.ios.Focus.plist", ".json",
            "", "x.plist", "values.json", "MyApp-core-old.json", "MozTelemetry-Default-core.JSON",
        ])
    func otherFiles(name: String) {
        #expect(MozillaName(file: name, in: "Documents") == nil)
    }

    @Test("Property lists are preferences only in a folder named Preferences")
    func preferences() {
        for name in ["org.mozilla.ios.Focus.plist", "group.org.mozilla.ios.Firefox.plist", "x.plist"] {
            #expect(MozillaName(file: name, in: "Preferences") == .preferences)
            #expect(MozillaName(file: name, in: "Library") == nil)
        }
        #expect(MozillaName(file: "MozTelemetry-Default.plist", in: "Preferences") == .datedMeasurements)
        #expect(MozillaName(file: "x.json", in: "Preferences") == nil)
    }

    @Test("Names of the SDK are distinguished from other names")
    func sdkNames() {
        #expect(MozillaName.hasSDKPrefix("MozTelemetry-Default-core"))
        #expect(MozillaName.hasSDKPrefix("MozTelemetry-core.json"))
        #expect(MozillaName.hasSDKPrefix("eventArray-MozTelemetry-Default-core.json"))
        #expect(!MozillaName.hasSDKPrefix("MyApp-core"))
        #expect(!MozillaName.hasSDKPrefix("eventArray-MyApp-core.json"))
        #expect(!MozillaName.hasSDKPrefix("x-MozTelemetry-Default-core"))
    }

    @Test(
        "The time in the name of a ping file is read",
        arguments: [
            ("-t-1527163208.41924.json", "1527163208.41924"), ("-t-1527163208.4192431.json", "1527163208.4192431"),
            ("-t-1527163208.0.json", "1527163208.0"), ("-t-1527163208.json", "1527163208"),
            ("1508860835.51251.json", "1508860835.51251"), ("7.json", "7"), ("-t-7.json", "7"),
            ("-t-99999999999999999999999.5.json", "99999999999999999999999.5"),
        ])
    func pingFileName(name: String, seconds: String) {
        #expect(decimalTime(pingFileName: name) == decimalTime(seconds))
        #expect(decimalTime(pingFileName: name) != nil)
    }

    @Test(
        "Other names contain no time",
        arguments: [
            "", "-t-", ".json", "-t-.json", "t-1.json", "-t-1.2.3.json", "-t-1..json", "-t-.5.json", "-t-1e9.json",
            "-t--1.json", "-t-1527163208.41924 (1).json", "-t-1527163208.41924.JSON", "-t-1527163208.41924",
            "x-t-1527163208.41924.json", "-t-1527163208.41924.json.sb-1a2b", "-t-x.json", "package.json", "1.plist",
            "-t-\u{661}.json", "5.", "json", "-t-1527163208,4.json",
        ])
    func otherNames(name: String) {
        #expect(decimalTime(pingFileName: name) == nil)
    }
}
