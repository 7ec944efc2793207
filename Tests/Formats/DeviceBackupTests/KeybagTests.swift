import Hashing
import Testing

@testable import DeviceBackup

/// A malformed keybag and the expected error.
struct KeybagFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let expected: KeybagError
}

/// Tests for keybags, including the cases B24 to B26 of "iOS backups".
@Suite struct KeybagTests {
    static func item(_ tag: String, _ value: [UInt8]) -> [UInt8] {
        Array(tag.utf8) + number(value.count) + value
    }

    static func number(_ value: Int) -> [UInt8] {
        [UInt8(value >> 24 & 0xFF), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    static let uuid: [UInt8] = item("UUID", [UInt8](repeating: 0, count: 16))
    static let salt: [UInt8] = item("SALT", [UInt8](repeating: 2, count: 20))
    static let rounds: [UInt8] = item("ITER", number(10_000))
    static let malformed = KeybagError.malformed("it has no salt, or no number of rounds")

    static func unsupportedRounds(_ count: Int) -> KeybagError {
        KeybagError(
            caseID: "B25", reason: "the keybag requires \(count) rounds, but only 1 to 50000000 are supported")
    }

    static let cases: [KeybagFault] = [
        KeybagFault(testDescription: "no byte", bytes: [], expected: malformed),
        KeybagFault(testDescription: "text", bytes: Array("VERS".utf8), expected: .malformed("it ends within an item")),
        KeybagFault(
            testDescription: "a length beyond the end", bytes: Array("VERS".utf8) + number(0xFFFF_FFFF),
            expected: .malformed("an item is longer than the rest of the keybag")),
        KeybagFault(testDescription: "no salt", bytes: uuid + rounds, expected: malformed),
        KeybagFault(testDescription: "no rounds", bytes: uuid + salt, expected: malformed),
        KeybagFault(
            testDescription: "rounds of three bytes", bytes: uuid + salt + item("ITER", [0, 1, 2]), expected: malformed),
        KeybagFault(
            testDescription: "DPIC without DPSL", bytes: uuid + salt + rounds + item("DPIC", number(1000)),
            expected: .malformed("the first derivation has only a salt or only a number of rounds")),
        KeybagFault(
            testDescription: "DPSL without DPIC", bytes: uuid + salt + rounds + item("DPSL", [1]),
            expected: .malformed("the first derivation has only a salt or only a number of rounds")),
        KeybagFault(
            testDescription: "no round", bytes: salt + item("ITER", number(0)), expected: unsupportedRounds(0)),
        KeybagFault(
            testDescription: "too many rounds", bytes: salt + item("ITER", number(50_000_001)),
            expected: unsupportedRounds(50_000_001)),
        KeybagFault(
            testDescription: "too many rounds at first",
            bytes: salt + rounds + item("DPSL", [1]) + item("DPIC", number(0xFFFF_FFFF)),
            expected: unsupportedRounds(0xFFFF_FFFF)),
        KeybagFault(
            testDescription: "more than 64 KiB", bytes: [UInt8](repeating: 0, count: 65_537),
            expected: .malformed("it has more than 64 KiB")),
    ]

    @Test("errors in keybags are reported", arguments: KeybagTests.cases)
    func faults(_ fault: KeybagFault) {
        #expect(throws: fault.expected) { try Keybag(fault.bytes) }
    }

    @Test("only the first of repeated tags is used, and unknown tags are ignored")
    func repeated() throws {
        let bag = try Keybag(
            Self.uuid + Self.salt + Self.item("WHAT", [1, 2, 3]) + Self.rounds + Self.item("ITER", Self.number(7))
                + Self.uuid + Self.item("CLAS", Self.number(0x13)) + Self.item("CLAS", Self.number(4))
                + Self.item("WRAP", Self.number(2)) + Self.item("WPKY", [9]))
        #expect(bag.derivation.last.rounds == 10_000)
        #expect(bag.derivation.first == nil)
        #expect(bag.classItems.map(\.number) == [3])
        #expect(bag.classItems[0].wrappedKey == [9])
    }

    // MARK: Classes

    /// The key of class 3, wrapped with the password `hashcat`.
    ///
    /// Source: "iOS backups", section 5.5.
    static let wrapped: [UInt8] = [
        0xB8, 0xE3, 0xF3, 0xA9, 0x70, 0x23, 0x9B, 0x22, 0xAC, 0x19, 0x9B, 0x62, 0x22, 0x93, 0xFE, 0x42, 0x37, 0xB9,
        0xD1,
        0x6E, 0x74, 0xBA, 0xD2, 0xC3, 0xC3, 0x56, 0x8C, 0xD1, 0xBD, 0x3C, 0x47, 0x16, 0x15, 0xA6, 0xC4, 0xF8, 0x67,
        0x26,
        0x56, 0x42,
    ]
    static let vectorSalt: [UInt8] = [
        0x45, 0x42, 0x26, 0x37, 0x40, 0x58, 0x74, 0x24, 0x86, 0x22, 0x67, 0x23, 0x22, 0x55, 0x85, 0x38, 0x30, 0x40,
        0x45,
        0x66,
    ]

    static func entry(_ number: Int, wrap: Int, type: Int = 0, key: [UInt8] = wrapped) -> [UInt8] {
        uuid + item("CLAS", Self.number(number)) + item("WRAP", Self.number(wrap))
            + item("KTYP", Self.number(type)) + item("WPKY", key)
    }

    static func keys(_ entries: [UInt8], password: String = "hashcat") throws -> ClassKeys? {
        let bag = try Keybag(uuid + item("SALT", vectorSalt) + rounds + entries)
        var bytes = Array(password.utf8)
        let key = try #require(bag.derivation.key(for: Secret(taking: &bytes)))
        return ClassKeys(bag, under: key)
    }

    private func error(_ keys: ClassKeys, _ number: UInt8) -> String? {
        let key = WrappedKey([number, 0, 0, 0] + [UInt8](repeating: 7, count: 40))
        do throws(WrappedKeyError) {
            if let key { _ = try keys.unwrap(key) }
            return nil
        } catch {
            return error.words
        }
    }

    @Test("only AES keys that are protected by the password alone decrypt files")
    func usable() throws {
        let keys = try #require(
            try Self.keys(
                Self.entry(3, wrap: 2) + Self.entry(9, wrap: 3) + Self.entry(4, wrap: 2, type: 1)
                    + Self.entry(1, wrap: 1)))
        #expect(keys.damagedClassNumbers == [])
        #expect(error(keys, 3) == "cannot be unwrapped")
        for number: UInt8 in [9, 4, 1, 15] {
            #expect(error(keys, number) == "is of class \(number), whose key is not in the keybag")
        }
    }

    @Test("the password is correct if one class unwraps, and other classes are then damaged")
    func damagedClass() throws {
        var broken = Self.wrapped
        broken[0] ^= 1
        let keys = try #require(
            try Self.keys(
                Self.entry(3, wrap: 2) + Self.entry(4, wrap: 2, key: broken) + Self.entry(2, wrap: 2, key: [1])))
        #expect(keys.damagedClassNumbers == [2, 4])
    }

    @Test("the password is wrong if no class unwraps")
    func wrongPassword() throws {
        #expect(try Self.keys(Self.entry(3, wrap: 2), password: "Hashcat") == nil)
        #expect(try Self.keys([]) == nil)
    }

    @Test("the key of a file has 44 bytes and begins with its little-endian class")
    func wrappedKeys() throws {
        #expect(try #require(WrappedKey([2, 1] + [UInt8](repeating: 0, count: 42))).classNumber == 258)
        for count in [0, 3, 12, 43, 45, 76] {
            #expect(WrappedKey([UInt8](repeating: 3, count: count)) == nil)
        }
    }

    @Test("padding consists of 1 to 16 bytes with their number as value")
    func padding() {
        let block = [UInt8](repeating: 16, count: 16)
        #expect(Padding.count(inLastBlock: block) == 16)
        #expect(Padding.count(inLastBlock: [UInt8](repeating: 5, count: 15) + [1]) == 1)
        #expect(Padding.count(inLastBlock: [UInt8](repeating: 9, count: 13) + [3, 3, 3]) == 3)
        #expect(Padding.count(inLastBlock: [UInt8](repeating: 9, count: 13) + [3, 2, 3]) == nil)
        #expect(Padding.count(inLastBlock: [UInt8](repeating: 0, count: 16)) == nil)
        #expect(Padding.count(inLastBlock: [UInt8](repeating: 17, count: 16)) == nil)
        #expect(Padding.count(inLastBlock: []) == nil)
        #expect(Padding.count(inLastBlock: [4, 4]) == nil)
    }
}
