import Files

/// The path of a volume: that of the bundle that was split, and a number from 1, as in `phone.tar.zst.002`.
public struct VolumeName: Sendable, Equatable {
    /// The path that the bundle would have as one file.
    public let bundle: String
    /// The number of the volume, from 1.
    public let number: Int

    /// The most volumes of a bundle: all have three digits, so that their names are in the order of their numbers.
    public static let maxNumber = 999
    private static let digits = 3

    /// Names a volume by the path that the bundle would have as one file, and a number from 1 to ``maxNumber``.
    public init(of bundle: String, number: Int) {
        self.bundle = bundle
        self.number = number
    }

    /// Reads the path of a volume; nil if it is another one.
    public init?(path: String) {
        let bytes = Array(path.utf8)
        let suffix = bytes.suffix(Self.digits + 1)
        guard suffix.count == Self.digits + 1, suffix.first == UInt8(ascii: "."),
            let last = bytes.dropLast(suffix.count).last, last != UInt8(ascii: "/")
        else { return nil }
        var number = 0
        for byte in suffix.dropFirst() {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = 10 * number + Int(byte - UInt8(ascii: "0"))
        }
        guard number > 0 else { return nil }
        self.init(of: String(decoding: bytes.dropLast(suffix.count), as: UTF8.self), number: number)
    }

    /// The path.
    public var path: String {
        let text = String(number)
        return "\(bundle).\(String(repeating: "0", count: max(0, Self.digits - text.count)))\(text)"
    }

    /// The last part of the path.
    public var name: String { Path.name(of: path) }

    /// The first volume of the same bundle.
    public var first: VolumeName { VolumeName(of: bundle, number: 1) }

    /// The path of the list of the volumes of a bundle, which `sha256sum -c` reads.
    public static func listPath(of bundle: String) -> String { bundle + ".sha256" }

    /// Whether two names are those of one file: Swift takes some for equal that have other bytes.
    static func areEqual(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
