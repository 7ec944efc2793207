import Bytes
import Files

/// A format of files that may contain telemetry, but are not read.
///
/// The format is recognized by the first bytes of a file, so that a message can name it and suggest what to do.
public struct UnreadFormat: Sendable {
    /// The name of the format, including the indefinite article, such as "a RAR archive".
    let name: String
    /// The suggested next step for the user.
    let remedy: String
    /// Whether a file of the format is a loss.
    private(set) var isLoss = true

    /// The report of a Cellebrite program, a zip archive whose members may have no useful names.
    static let cellebriteReport = UnreadFormat(
        name: "a Cellebrite report (UFDR) in which no store was found",
        remedy: "export the file system with the Cellebrite program as a folder or a zip archive")

    /// A file or folder with the altered name of a store, such as a copy.
    static let alteredName = UnreadFormat(
        name: "a copy of a store, whose name was altered",
        remedy: copyRemedy)
    /// A copy that is next to its original.
    static let spareCopy = {
        var format = UnreadFormat(name: "a copy of the store next to it, whose name was altered", remedy: copyRemedy)
        format.isLoss = false
        return format
    }()
    private static let copyRemedy =
        "if its records are not elsewhere, copy it under its original name to another folder, and pass that"

    /// A file whose name is the path of a store, as programs create it that do not separate folders by backslashes.
    static let pathInName = UnreadFormat(
        name: "a file whose name contains the path of a store with backslashes",
        remedy: #"unpack its archive into folders, as tar --transform='s|\\|/|g' does, and pass the folder"#)
    /// A disk image that is recognized by its end or its name, because many disk images begin with compressed data.
    static let diskImage = UnreadFormat(name: "a disk image", remedy: "mount it, and pass the folder")
    /// A request log with a compression that is not read.
    static let compressedLog = UnreadFormat(
        name: "a compressed request log", remedy: "decompress it, or compress it with gzip or zstd")

    /// The first part of a split archive.
    static let splitArchive = UnreadFormat(
        name: "the first part of a split archive", remedy: splitRemedy)
    /// Another part of a split archive.
    static let laterPart = UnreadFormat(name: "a part of a split archive", remedy: partsRemedy)
    /// The last part of a zip archive that `zip` split.
    static let lastPart = UnreadFormat(name: "the last part of a split archive", remedy: splitZipRemedy)
    static let splitRemedy = "join the parts with cat NAME.0* > NAME, and pass the result"
    static let partsRemedy = "join the parts with cat, in the order of their names, and pass the result"
    static let splitZipRemedy = "join the parts with zip -s 0 NAME.zip --out WHOLE.zip, and pass WHOLE.zip"

    private static let unpack = "unpack it, and pass the folder"
    private static let exportHAR = "export it as HAR"

    /// The signatures of formats other than archives.
    private static let signatures: [(name: String, remedy: String, signatures: [[UInt8]])] = [
        (
            "a Charles session", "\(exportHAR) or as a JSON session in Charles: File > Export Session",
            [[0xAC, 0xED, 0x00, 0x05]]
        ),
        (
            "a packet capture", "its requests are encrypted; record them with a proxy, and \(exportHAR)",
            [
                [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4], [0x4D, 0x3C, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
                [0x0A, 0x0D, 0x0D, 0x0A],
            ]
        ),
        (
            "an Android backup", "unpack it with android-backup-extractor, and pass the tar archive",
            [Array("ANDROID BACKUP\n".utf8)]
        ),
        (
            diskImage.name, diskImage.remedy,
            [
                Array("encrcdsa".utf8), Array("koly".utf8), [0x78, 0x01, 0x73, 0x0D, 0x62, 0x62, 0x60],
                Array("sprs".utf8),
            ]
        ),
        (
            "an Apple Archive", "unpack it on a Mac with aa extract, and pass the folder",
            ["AA01", "YAA1", "AEA1", "pbze", "pbzx", "pbz4", "pbzz", "pbzb", "pbz-"].map { Array($0.utf8) }
        ),
        (
            "a forensic disk image", "mount it with ewfmount, and pass the folder",
            [[0x45, 0x56, 0x46, 0x09, 0x0D, 0x0A, 0xFF, 0x00], [0x45, 0x56, 0x46, 0x32, 0x0D, 0x0A, 0x81, 0x00]]
                + [[0x4C, 0x56, 0x46, 0x09, 0x0D, 0x0A, 0xFF, 0x00]]
        ),
        (
            "a forensic disk image", "export its files, and pass the folder",
            [Array("ADSEGMENTEDFILE\0".utf8)]
        ),
        ("an image of Windows", "unpack it with 7z, and pass the folder", [Array("MSWIM\0\0\0".utf8)]),
    ]

    /// The signatures of the partition tables and file systems of uncompressed disk images: Apple and GUID partition
    /// tables, APFS, and HFS+ in two versions.
    private static let partSignatures: [(offset: Int, bytes: [UInt8])] = [
        (512, Array("PM\0\0".utf8)), (512, Array("EFI PART".utf8)), (32, Array("NXSB".utf8)),
        (1024, Array("H+\0\u{4}".utf8)), (1024, Array("HX\0\u{5}".utf8)),
    ]

    /// Returns whether `source` ends like a disk image of macOS.
    static func isDiskImage(_ source: ByteSource) -> Bool {
        let size = 512
        // A file that cannot be read is reported elsewhere.
        guard source.count >= size, let end = try? source.bytes(at: source.count - size, count: size) else {
            return false
        }
        return end.starts(with: "koly".utf8)
    }

    init(name: String, remedy: String) {
        self.name = name
        self.remedy = remedy
    }

    /// Detects the format of a file whose first bytes match no format by its name, or returns `nil` if it is unknown.
    init?(path: String) {
        if ArchiveLocation.isLaterPart(path.utf8) {
            self = .laterPart
        } else if path.utf8.hasSuffixIgnoringCase(".dmg") {
            self = .diskImage
        } else {
            return nil
        }
    }

    /// Detects the format of a file that begins with `head`, or returns `nil` if the bytes match no format.
    ///
    /// If the name of the file is not that of an archive, short signatures are ignored.
    init?(head: [UInt8], isNamedForArchive: Bool) {
        if let found = Self.signatures.first(where: { $0.signatures.contains { head.starts(with: $0) } }) {
            self.init(name: found.name, remedy: found.remedy)
        } else if Self.partSignatures.contains(where: { head.dropFirst($0.offset).starts(with: $0.bytes) }) {
            self = .diskImage
        } else if let name = ArchiveFormat.unsupported(
            head, isInCompressedFile: false, signatureSize: isNamedForArchive ? 0 : 4)
        {
            self.init(name: name, remedy: Self.unpack)
        } else if Self.isFlowFile(head) {
            self.init(
                name: "a mitmproxy flow file",
                remedy: "\(Self.exportHAR): mitmdump -nr FILE --set hardump=FILE.har")
        } else if Array(head.prefix(4096)).contains(text: "<items burpVersion=") {
            self.init(name: "a list of requests from Burp", remedy: "\(Self.exportHAR) with an extension of Burp")
        } else {
            return nil
        }
    }

    /// Returns whether `head` begins like a mitmproxy flow: a dictionary in the notation of tnetstrings.
    private static func isFlowFile(_ head: [UInt8]) -> Bool {
        let length = head.prefix(while: \.isDigit).count
        guard (1...10).contains(length), head.dropFirst(length).first == UInt8(ascii: ":") else {
            return false
        }
        // The first key of the dictionary is also a tnetstring.
        let first = head.dropFirst(length + 1).prefix(32)
        let keys = ["4:type;", "7:version;", "7:request;", "2:id;", "9:websocket;", "8:response;", "5:error;"]
        return keys.contains { first.starts(with: $0.utf8) }
            || ["server_conn;", "client_conn;"].contains { first.starts(with: "11:\($0)".utf8) }
    }
}

extension BidirectionalCollection where Element == UInt8 {
    /// Returns whether the bytes end with `suffix`, which is in lowercase, without regard to the case of ASCII letters.
    func hasSuffixIgnoringCase(_ suffix: String) -> Bool {
        var rest = self[...]
        return suffix.utf8.reversed().allSatisfy { rest.popLast()?.lowercased == $0 }
    }
}
