import Foundation
import Testing

@testable import DeviceBackup

@Suite struct BackupListsTests {
    private func lists(_ values: [String: Any], as name: BackupPropertyLists.Name) throws -> BackupPropertyLists {
        var lists = BackupPropertyLists()
        lists.read(
            Array(try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)), of: name)
        return lists
    }

    private let date = Date(timeIntervalSince1970: 1_587_377_100)

    @Test("the model, version, date and state are read")
    func values() throws {
        var lists = try lists(
            [
                "Product Type": "iPhone11,2", "Product Version": "13.3.1", "Last Backup Date": date,
                "Device Name": "CANARY", "IMEI": "CANARY",
            ], as: .info)
        lists.read(
            Array(
                try PropertyListSerialization.data(
                    fromPropertyList: ["SnapshotState": "finished", "UUID": "CANARY"], format: .xml, options: 0)),
            of: .status)
        #expect(lists.productType == "iPhone11,2")
        #expect(lists.productVersion == "13.3.1")
        #expect(lists.lastBackup == "2020-04-20T10:05:00Z")
        #expect(lists.snapshotState == "finished")
        #expect(!lists.isEncrypted)
        #expect(!"\(lists)".contains("CANARY"))
    }

    @Test("Manifest.plist replaces missing values of Info.plist in either order")
    func lockdown() throws {
        let lockdown: [String: Any] = ["Lockdown": ["ProductType": "iPad2,5", "ProductVersion": "9.3.5"]]
        var lists = try lists(lockdown, as: .manifest)
        #expect(lists.productType == "iPad2,5")
        #expect(lists.productVersion == "9.3.5")
        lists.read(Array("no list".utf8), of: .info)
        #expect(lists.productType == "iPad2,5")
    }

    @Test("a backup is encrypted if the value is true or 1")
    func encryption() throws {
        #expect(try lists(["IsEncrypted": true], as: .manifest).isEncrypted)
        #expect(try lists(["IsEncrypted": 1], as: .manifest).isEncrypted)
        #expect(try !lists(["IsEncrypted": 2], as: .manifest).isEncrypted)
        #expect(try !lists(["IsEncrypted": "true"], as: .manifest).isEncrypted)
        let keys = try lists(["BackupKeyBag": Data([1]), "ManifestKey": "text"], as: .manifest)
        #expect(keys.keybag == [1])
        #expect(keys.manifestKey == nil)
    }

    @Test(
        "keys that occur only in backups identify a backup",
        arguments: [
            ("BackupKeyBag", BackupPropertyLists.Name.manifest, true), ("IsEncrypted", .manifest, true),
            ("Lockdown", .manifest, true), ("SystemDomainsVersion", .manifest, true), ("Version", .manifest, false),
            ("Target Identifier", .info, true), ("Last Backup Date", .info, true), ("Unique Identifier", .info, true),
            ("CFBundleName", .info, false), ("SnapshotState", .status, true), ("BackupState", .status, true),
            ("Version", .status, false),
        ])
    func signs(_ key: String, _ name: BackupPropertyLists.Name, _ shows: Bool) throws {
        #expect(try lists([key: 1], as: name).hasBackupKeys == shows)
    }

    @Test("values of other types and long texts are ignored")
    func ignoredValues() throws {
        let ignored = try lists(
            ["Product Type": 7, "Product Version": String(repeating: "9", count: 65), "Last Backup Date": "today"],
            as: .info)
        #expect(ignored.productType == nil)
        #expect(ignored.productVersion == nil)
        #expect(ignored.lastBackup == nil)
    }
}
