import Bytes
import Files

/// The path of a volume, which is the path of the bundle followed by a number, such as `phone.tar.zst.002`.
public struct VolumeName: Sendable, Equatable {
    /// The path of the bundle.
    public let bundlePath: String
    /// The number of the volume, starting at 1.
    public let number: Int

    /// The maximum number of volumes of a bundle.
    ///
    /// All numbers have three digits, so that sorting the names sorts the numbers.
    public static let maxNumber = 999
    private static let digitCount = 3

    /// Creates the name of a volume with a number from 1 to ``maxNumber``.
    public init(of bundlePath: String, number: Int) {
        self.bundlePath = bundlePath
        self.number = number
    }

    /// Parses the path of a volume, or returns `nil` if `path` does not end with a volume number.
    public init?(path: String) {
        let bytes = Array(path.utf8)
        let suffix = bytes.suffix(Self.digitCount + 1)
        guard suffix.count == Self.digitCount + 1, suffix.first == UInt8(ascii: "."),
            let last = bytes.dropLast(suffix.count).last, last != UInt8(ascii: "/")
        else { return nil }
        let digits = suffix.dropFirst()
        guard digits.allSatisfy(\.isDigit), let number = Int(String(decoding: digits, as: UTF8.self)), number > 0
        else { return nil }
        self.init(of: String(decoding: bytes.dropLast(suffix.count), as: UTF8.self), number: number)
    }

    /// The path of the volume.
    public var path: String { "\(bundlePath).\(number.zeroPadded(to: Self.digitCount))" }

    /// The last component of the path.
    public var name: String { Path.name(of: path) }

    /// The first volume of the same bundle.
    public var firstVolume: VolumeName { VolumeName(of: bundlePath, number: 1) }

    /// Returns the path of the volume list of the bundle at `bundlePath`.
    ///
    /// The command `sha256sum -c` can read the list.
    public static func listPath(of bundlePath: String) -> String { bundlePath + ".sha256" }

    /// Returns whether two names have the same bytes.
    ///
    /// This differs from the operator `==`, which considers canonically equivalent Unicode strings equal.
    static func areEqual(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
