import Bytes

/// The size of all volumes of a bundle except the last one.
public struct VolumeSize: Sendable, Equatable {
    /// The size in bytes, which is at least ``minimumByteCount``.
    public let byteCount: Int

    /// The minimum size in bytes.
    public static let minimumByteCount = 4 << 10

    /// The sizes for a CD, a single-layer DVD, and the largest file on a FAT file system.
    ///
    /// Each size is slightly smaller than the actual limit.
    private static let media = ["cd": 700 << 20, "dvd": 4480 << 20, "fat": 4092 << 20]
    private static let units: [UInt8: Int] = [
        UInt8(ascii: "K"): 1 << 10, UInt8(ascii: "M"): 1 << 20, UInt8(ascii: "G"): 1 << 30,
    ]

    /// Creates a size, or returns `nil` if it is smaller than ``minimumByteCount``.
    public init?(byteCount: Int) {
        guard byteCount >= Self.minimumByteCount else { return nil }
        self.byteCount = byteCount
    }

    /// Parses a size: `cd`, `dvd`, `fat`, or a number of bytes with an optional suffix `K`, `M` or `G`.
    ///
    /// Returns `nil` if the string is malformed or the size is out of range.
    public init?(text: String) {
        if let byteCount = Self.media[text] {
            self.init(byteCount: byteCount)
            return
        }
        var digits = Array(text.utf8)
        let unit = digits.last.flatMap { Self.units[$0] }
        if unit != nil { digits.removeLast() }
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let (byteCount, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        self.init(byteCount: byteCount)
    }
}
