import Testing

@testable import Adjust

/// Tests the folders whose files apply to a queue.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 1, 5 and 7.7.
@Suite struct AdjustFoldersTests {
    private static let newer = "Library/Application Support/Adjust/"
    private static let older = "Documents/"

    @Test(
        "A queue in a folder of the SDK belongs to a container",
        arguments: [
            "", "AppDomain-org.mozilla.ios.Focus/", "private/var/mobile/Containers/Data/Application/7C0FFEE0/",
            "x.zip!", "phones/x.zip!", "x.zip!AppData/", "Documents/", "Library/Application Support/Adjust/",
        ])
    func containers(container: String) {
        let newer = AdjustFolders(of: .queue, at: container + Self.newer + "AdjustIoPackageQueue")
        #expect(newer.container == container)
        #expect(newer.folders == [container + Self.newer, container + Self.older])
        #expect(newer.own == container + Self.newer)
        let older = AdjustFolders(of: .queue, at: container + Self.older + "AdjustIoPackageQueue")
        #expect(older.container == container)
        #expect(older.folders == newer.folders)
        #expect(older.own == container + Self.older)
    }

    @Test(
        "The files beside a queue in another folder apply to it",
        arguments: [
            "", "pulled/kiosk/", "MyDocuments/", "x.zip!pulled/", "x.zip!", "Documents/old/", "Adjust/",
            "Application Support/Adjust/", "OtherLibrary/Application Support/Adjust/", "documents/",
        ])
    func elsewhere(folder: String) {
        let place = AdjustFolders(of: .queue, at: folder + "AdjustIoPackageQueue")
        #expect(place.container == nil)
        #expect(place.folders == [folder])
    }

    @Test("A renamed queue is in no folder of the SDK", arguments: ["queue.bin", "Documents/queue.bin", "x"])
    func renamed(path: String) {
        let place = AdjustFolders(of: .queue, at: path)
        #expect(place.container == nil && place.folders.count == 1)
    }

    @Test("Only the documented names are files of the SDK")
    func names() {
        #expect(
            Set(AdjustFile.allCases.map(\.rawValue)) == [
                "AdjustIoPackageQueue", "AdjustIoActivityState", "AdjustIoAttribution",
                "AdjustSessionCallbackParameters", "AdjustSessionPartnerParameters", "AdjustEventMetadata",
            ])
        for name in ["adjustiopackagequeue", "AdjustIoPackageQueue.bak", "AdjustIoPackageQueue ", ""] {
            #expect(AdjustFile(rawValue: name) == nil, "\(name)")
        }
    }
}
