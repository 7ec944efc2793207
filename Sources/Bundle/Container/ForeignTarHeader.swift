/// A tar header as any tar program writes it (POSIX, GNU, v7), read to salvage members that somebody packed again.
///
/// Source: IEEE Std 1003.1, `pax`, "ustar Interchange Format" and "pax Header Block"; GNU tar's manual, "Basic Tar Format".
struct ForeignTarHeader {
    /// What the bytes behind the header are.
    enum Purpose {
        /// The contents of a file.
        case file
        /// Names and sizes of the next entry that have no room in its header, as POSIX has them.
        case extended
        /// The name of the next entry, as GNU has it.
        case longName
        /// Nothing that is wanted: folders, links, comments.
        case other
    }

    let purpose: Purpose
    let name: String
    let size: Int

    private static let nameEnd = 100
    private static let size = 124..<136
    private static let checksum = 148..<156
    private static let type = 156
    private static let magic = Array("ustar\u{0}".utf8)
    private static let magicStart = 257
    private static let prefix = 345..<500

    /// Reads a block; nil if its checksum is not that of a header.
    init?(_ block: [UInt8]) {
        guard block.count == TarHeader.blockSize, let size = Self.number(Self.size, of: block),
            Self.number(Self.checksum, of: block) == Self.sum(of: block)
        else { return nil }
        var name = Self.text(0..<Self.nameEnd, of: block)
        let isPOSIX = Self.magic.indices.allSatisfy { block[Self.magicStart + $0] == Self.magic[$0] }
        if isPOSIX {
            let prefix = Self.text(Self.prefix, of: block)
            if !prefix.isEmpty { name = "\(prefix)/\(name)" }
        }
        self.name = name
        switch block[Self.type] {
        case 0, UInt8(ascii: "0"), UInt8(ascii: "7"): (purpose, self.size) = (.file, size)
        case UInt8(ascii: "x"): (purpose, self.size) = (.extended, size)
        case UInt8(ascii: "L"): (purpose, self.size) = (.longName, size)
        // Links, folders and devices have no contents, whatever their header says.
        case UInt8(ascii: "1")...UInt8(ascii: "6"): (purpose, self.size) = (.other, 0)
        default: (purpose, self.size) = (.other, size)
        }
    }

    /// The path and the size that an extended header tells.
    static func extended(_ contents: [UInt8]) -> (path: String?, size: Int?) {
        var found: (path: String?, size: Int?)
        var rest = contents[...]
        // `<length> <key>=<value>\n`, the length being that of all of it.
        while let space = rest.firstIndex(of: UInt8(ascii: " ")),
            let length = Int(String(decoding: rest[..<space], as: UTF8.self)), length > space - rest.startIndex + 1,
            length <= rest.count
        {
            let entry = rest[(space + 1)..<(rest.startIndex + length)].dropLast()
            rest = rest.dropFirst(length)
            guard let sign = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = String(decoding: entry[(sign + 1)...], as: UTF8.self)
            switch String(decoding: entry[..<sign], as: UTF8.self) {
            case "path": found.path = value
            case "size": found.size = Int(value).flatMap { $0 < 0 ? nil : $0 }
            default: continue
            }
        }
        return found
    }

    private static func text(_ range: Range<Int>, of block: [UInt8]) -> String {
        String(decoding: range.lazy.map { block[$0] }.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// An octal number between spaces and zeros, or a binary one as GNU writes large ones.
    private static func number(_ range: Range<Int>, of block: [UInt8]) -> Int? {
        var value = 0
        if block[range.lowerBound] & 0x80 != 0 {
            for index in range {
                let byte = index == range.lowerBound ? block[index] & 0x7F : block[index]
                guard value >> 48 == 0 else { return nil }
                value = value << 8 | Int(byte)
            }
            return value
        }
        let digits = range.map { block[$0] }.drop { $0 == UInt8(ascii: " ") }
            .prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
            value = value << 3 | Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func sum(of block: [UInt8]) -> Int {
        block.indices.reduce(0) { $0 + Int(checksum.contains($1) ? UInt8(ascii: " ") : block[$1]) }
    }
}
