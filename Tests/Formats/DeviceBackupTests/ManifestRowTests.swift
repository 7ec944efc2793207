import Foundation
import Testing

@testable import DeviceBackup

/// Tests for archives of `MBFile`, records of the old manifest, domains, paths and file names.
@Suite struct ManifestRowTests {
    private func archive(_ objects: [Any], root: String = "<integer>1</integer>") throws -> [UInt8] {
        // XML represents references as dictionaries, which the parser recognizes.
        let list: [String: Any] = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": reference(1)], "$objects": objects,
        ]
        return Array(try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0))
    }

    /// Returns the XML form of a reference.
    private func reference(_ number: Int) -> [String: Int] { ["CF$UID": number] }

    private let key = [UInt8](repeating: 3, count: 44)

    @Test("a key is found in each known form", arguments: ["inline", "bare", "real", "referred"])
    func keyForms(_ form: String) throws {
        let data = Data(key)
        let objects: [Any] =
            switch form {
            case "inline": ["$null", ["Mode": 0o100644, "Size": 9, "EncryptionKey": data]]
            case "bare": ["$null", ["Mode": 0o100644, "Size": 9, "EncryptionKey": reference(2)], data]
            case "real": ["$null", ["Mode": 0o100644, "Size": 9, "EncryptionKey": reference(2)], ["NS.data": data]]
            default:
                [
                    "$null", ["Mode": 0o100644, "Size": 9, "EncryptionKey": reference(2)], ["NS.data": reference(3)],
                    data,
                ]
            }
        #expect(MBFile(archive: try archive(objects)) == MBFile(kind: .file, size: 9, key: key))
    }

    @Test("missing values and values of another type are nil")
    func invalidMembers() throws {
        let invalid: [[String: Any]] = [
            [:], ["Mode": "x", "Size": -1, "EncryptionKey": 7],
            ["Mode": 0, "Size": 5.5, "EncryptionKey": reference(9)],
            ["Mode": 0o120000, "Size": "many", "EncryptionKey": reference(1)],
        ]
        let found = try invalid.map { MBFile(archive: try archive(["$null", $0])) }
        let nothing = MBFile(kind: nil, size: nil, key: nil)
        #expect(found == [nothing, nothing, nothing, MBFile(kind: .link, size: nil, key: nil)])
    }

    @Test("an archive that repeats a key is damaged")
    func repeatedKey() throws {
        let text = String(decoding: try archive(["$null", ["Mode": 0o100644, "Size": 9]]), as: UTF8.self)
        #expect(MBFile(archive: Array(text.utf8)) != nil)
        #expect(MBFile(archive: Array(text.replacing("<key>Size</key>", with: "<key>Mode</key>").utf8)) == nil)
    }

    @Test("malformed archives are rejected")
    func malformedArchives() throws {
        let texts = ["", "bplist00", "text", "<plist><dict/></plist>", "<plist><array/></plist>"]
        for text in texts { #expect(MBFile(archive: Array(text.utf8)) == nil) }
        #expect(MBFile(archive: try archive(["$null"])) == nil)
        #expect(MBFile(archive: try archive(["$null", "text"])) == nil)
        #expect(MBFile(archive: [UInt8](repeating: 0x62, count: 1 << 20 + 1)) == nil)
    }

    // MARK: The old manifest

    private func text(_ text: String?) -> [UInt8] {
        guard let text else { return [0xFF, 0xFF] }
        return [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF)] + text.utf8
    }

    private func record(_ domain: String?, _ path: String?, mode: Int, size: UInt8, attributes: Int = 0) -> [UInt8] {
        text(domain) + text(path) + text(nil) + text("hash") + text(mode >> 12 == 8 ? "key" : nil)
            + [UInt8(mode >> 8), UInt8(mode & 0xFF)] + [UInt8](repeating: 9, count: 28)
            + [0, 0, 0, 0, 0, 0, 0, size, 3, UInt8(attributes)]
            + (0..<attributes).flatMap { _ in text("name") + text(nil) }
    }

    private let header: [UInt8] = Array("mbdb".utf8) + [5, 0]

    @Test("records are parsed from chunks of any size", arguments: [1, 7, 50, 10_000])
    func records(_ step: Int) {
        let bytes =
            header + record("AppDomain-a", "Documents/x", mode: 0o100644, size: 7, attributes: 2)
            + record(nil, nil, mode: 0o040755, size: 0) + record("HomeDomain", "", mode: 0o120755, size: 200)
        var manifest = BinaryManifest()
        var rows: [ManifestRow] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            manifest.feed(Array(bytes[start..<min(start + step, bytes.count)]))
            while case .row(let row) = manifest.next() { rows.append(row) }
        }
        #expect(manifest.next() == .needsMore)
        #expect(!manifest.hasIncompleteRecord)
        #expect(rows.map { String(decoding: $0.domain, as: UTF8.self) } == ["AppDomain-a", "", "HomeDomain"])
        #expect(rows.map { String(decoding: $0.path, as: UTF8.self) } == ["Documents/x", "", ""])
        #expect(
            rows.map(\.details) == [
                MBFile(kind: .file, size: 7, key: Array("key".utf8)), MBFile(kind: .folder, size: 0, key: nil),
                MBFile(kind: .link, size: 200, key: nil),
            ])
    }

    @Test("a truncated record is reported after the records before it")
    func truncated() {
        let whole = record("AppDomain-a", "x", mode: 0o100644, size: 1)
        for cut in 1..<whole.count {
            var manifest = BinaryManifest()
            manifest.feed(header + whole + whole.dropLast(cut))
            guard case .row = manifest.next() else { return #expect(Bool(false), "\(cut)") }
            #expect(manifest.next() == .needsMore)
            #expect(manifest.hasIncompleteRecord)
        }
    }

    @Test("another signature or version is rejected", arguments: ["mbdb\u{4}\0", "mbdc\u{5}\0", "x", "mbdb\u{5}\u{1}"])
    func otherVersions(_ text: String) {
        var manifest = BinaryManifest()
        manifest.feed(Array(text.utf8))
        #expect(manifest.next() == .notAManifest)
    }

    @Test("an empty manifest is incomplete")
    func empty() {
        var manifest = BinaryManifest()
        #expect(manifest.next() == .needsMore)
        #expect(manifest.hasIncompleteRecord)
    }

    // MARK: Domains and paths

    private func domain(_ name: String) -> RowDomain { RowDomain(name: Array(name.utf8)) }

    private func hasValidPath(_ path: [UInt8]) -> Bool {
        ManifestRow(domain: Array("AppDomain-a".utf8), path: path, fileID: nil, flags: 1, file: .archive(nil))
            .hasValidPath
    }

    @Test("domains of apps, groups and plugins have identifiers, and others belong to the system")
    func domains() throws {
        let names = [
            "AppDomain-org.example.a", "AppDomainGroup-243LU875E5.groups.com.apple.podcasts", "AppDomainPlugin-b",
        ]
        let known = try names.map { try #require(BackupDomain(name: $0)) }
        #expect(known.map(\.kind) == [.app, .group, .plugin])
        #expect(known.map(\.identifier) == ["org.example.a", "243LU875E5.groups.com.apple.podcasts", "b"])
        #expect(known.map(\.name) == names)
        for name in names { #expect(domain(name) == .app(try #require(BackupDomain(name: name)))) }
        for name in ["HomeDomain", "SysContainerDomain-com.example", "SystemDomain", "Domain"] {
            #expect(domain(name) == .system)
        }
    }

    @Test(
        "invalid domains are rejected",
        arguments: [
            "", ".", "..", "AppDomain-", "AppDomainGroup-", "AppDomain-a/b", "a\0", String(repeating: "d", count: 256),
            // These names have a damaged prefix of an app domain.
            "appDomain-x", "AppDomai~-x", "ApPDoma\u{1}n-x", "AppDomain,x", "BppDomainGroup-x", "AppDomainGroup,x",
            "AppDomainPlugim-x",
        ])
    func rejectedDomains(_ name: String) {
        #expect(domain(name) == .invalid)
    }

    @Test(
        "invalid paths are rejected",
        arguments: [
            "..", "../x", "/x", "x/", "a//b", "a/./b", "a/../b", "a\0b", String(repeating: "n", count: 4097),
            String(repeating: "d/", count: 256) + "x",
        ])
    func rejectedPaths(_ path: String) {
        #expect(!hasValidPath(Array(path.utf8)))
    }

    @Test("names that are not UTF-8 are rejected")
    func malformedUTF8() {
        #expect(!hasValidPath([0xFF]))
        #expect(RowDomain(name: Array("AppDomain-".utf8) + [0xFF]) == .invalid)
    }

    @Test("a path of the maximum depth and the empty path of a container are accepted")
    func validPaths() {
        #expect(hasValidPath(Array((String(repeating: "d/", count: 255) + "x").utf8)))
        #expect(hasValidPath([]))
    }

    // MARK: File names

    @Test("the name of a file is the hash of its domain and path")
    func fileIDs() throws {
        let sms = FileID(domain: Array("HomeDomain".utf8), path: Array("Library/SMS/sms.db".utf8))
        #expect(sms.name == "3d0d7e5fb2ce288813306e4d4636395e047a3d28")
        #expect(sms.folder == "3d")
        let events = FileID(
            domain: Array("AppDomain-org.mozilla.ios.Focus".utf8),
            path: Array("Documents/eventArray-MozTelemetry-Default-focus-event.json".utf8))
        #expect(events.name == "175ab18e87e0a106a42ba7ee2106e96aedda38cc")
        #expect(FileID(Array(sms.name.utf8)) == sms)
    }

    @Test(
        "other file names are rejected",
        arguments: [
            "", "../../outside/secret.json", String(repeating: "a", count: 39), String(repeating: "g", count: 40),
            String(repeating: "AB", count: 20), String(repeating: "a", count: 41),
        ])
    func rejectedFileIDs(_ name: String) {
        #expect(FileID(Array(name.utf8)) == nil)
    }
}
