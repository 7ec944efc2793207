/// An unsupported archive or compression format, which is detected only to name it in messages.
struct UnsupportedFormat {
    /// The name of the format, including the indefinite article, such as "a RAR archive".
    let name: String
    private let signature: [UInt8]
    /// The offset of the signature in the file, in bytes.
    private var signatureOffset = 0

    private init(_ name: String, _ signature: some Sequence<UInt8>, at offset: Int = 0) {
        self.name = name
        self.signature = Array(signature)
        signatureOffset = offset
    }

    /// A 7z archive inside a compressed file.
    ///
    /// 7z archives are supported only if they are not inside a compressed file.
    static let sevenZip = UnsupportedFormat(
        "a 7z archive inside a compressed file", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C])

    private static let allFormats = [
        UnsupportedFormat("a RAR archive", "Rar!\u{1A}\u{07}".utf8),
        UnsupportedFormat("an ISO 9660 image", "CD001".utf8, at: 0x8001),
        UnsupportedFormat("a xar archive", "xar!".utf8),
        UnsupportedFormat("an ar archive or a Debian package", "!<arch>\n".utf8),
        UnsupportedFormat("a cabinet archive", "MSCF\0\0\0\0".utf8),
        UnsupportedFormat("a file compressed with lzip", "LZIP".utf8),
        UnsupportedFormat("a file compressed with lzma", [0x5D, 0x00, 0x00]),
        UnsupportedFormat("a file compressed with lzop", [0x89, 0x4C, 0x5A, 0x4F, 0x00]),
        UnsupportedFormat("a file compressed with lrzip", "LRZI".utf8),
        UnsupportedFormat("a file compressed with compress", [0x1F, 0x9D]),
    ]

    /// The number of first bytes that are needed to detect any of the formats.
    static let headSize = 0x8006

    /// Detects an unsupported format by the first bytes of a file, or returns `nil` if the bytes match no such format.
    static func find(in head: [UInt8]) -> UnsupportedFormat? { allFormats.first { $0.isFormat(of: head) } }

    func isFormat(of head: [UInt8]) -> Bool { head.dropFirst(signatureOffset).starts(with: signature) }
}
