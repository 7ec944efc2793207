/// How many bytes the volumes of a bundle have, all but the last.
public struct VolumeSize: Sendable, Equatable {
    /// At least ``smallest``.
    public let bytes: Int

    /// Less than a block of a disk makes no sense.
    public static let smallest = 4 << 10

    /// Media by their names: a CD, a DVD of one layer, and a file on FAT, which is less than 4 GiB. Some room is left on each.
    private static let media = ["cd": 700 << 20, "dvd": 4480 << 20, "fat": 4092 << 20]
    private static let units: [UInt8: Int] = [
        UInt8(ascii: "K"): 1 << 10, UInt8(ascii: "M"): 1 << 20, UInt8(ascii: "G"): 1 << 30,
    ]

    /// A number of bytes; nil if it is too small.
    public init?(bytes: Int) {
        guard bytes >= Self.smallest else { return nil }
        self.bytes = bytes
    }

    /// Reads `cd`, `dvd`, `fat`, or a number of bytes, with K, M or G behind it of KiB, MiB or GiB; nil for anything else, and for
    /// what is too small.
    public init?(text: String) {
        if let bytes = Self.media[text] {
            self.init(bytes: bytes)
            return
        }
        var digits = Array(text.utf8)
        let unit = digits.last.flatMap { Self.units[$0] }
        if unit != nil { digits.removeLast() }
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        self.init(bytes: bytes)
    }
}
