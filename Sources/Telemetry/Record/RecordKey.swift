import Bytes
import JSONText

/// A key of 16 bytes that is equal for two records that are the same upload, and different for all others.
///
/// Two records are duplicates only when system, type, id and canonical payload are all equal ("The record", "Duplicates").
public struct RecordKey: Sendable, Hashable {
    /// Stands for system, type and id.
    public let identity: UInt64
    /// Stands for the payload.
    public let content: UInt64

    /// Makes a key from its halves.
    public init(identity: UInt64, content: UInt64) {
        self.identity = identity
        self.content = content
    }

    /// The key of something that one text identifies and another describes, such as a request of a list.
    package init(identity: Span<UInt8>, content: Span<UInt8>, secret: RunSecret) {
        self.identity = KeyedHash.value(of: identity, under: secret.identity)
        self.content = KeyedHash.value(of: content, under: secret.content)
    }

    /// The key of a text that is told from others by all its bytes.
    public init(text: [UInt8], secret: RunSecret) {
        self.init(identity: text.span, content: text.span, secret: secret)
    }

    /// The key of a record.
    /// - Parameter secret: the same for all records of a run, unknown to those who made them.
    public init(_ record: borrowing Record, secret: RunSecret) {
        var identity = KeyedHash(secret.identity)
        identity.add(record.system.description.utf8.span)
        identity.add(record.type.utf8.span)
        identity.add(record.id.utf8.span)
        self.identity = identity.value
        content = KeyedHash.value(of: record.payload.span, under: secret.content)
    }
}

/// Random numbers of one run, by which records are told apart.
public struct RunSecret: Sendable {
    let identity: KeyedHash.Key
    let content: KeyedHash.Key

    /// Uses two given numbers, as tests do.
    public init(identity: UInt64, content: UInt64) {
        self.identity = KeyedHash.Key(identity % KeyedHash.prime)
        self.content = KeyedHash.Key(content % KeyedHash.prime)
    }

    /// Draws a secret.
    public init(using generator: inout some RandomNumberGenerator) {
        identity = KeyedHash.Key(UInt64.random(in: 1..<KeyedHash.prime, using: &generator))
        content = KeyedHash.Key(UInt64.random(in: 1..<KeyedHash.prime, using: &generator))
    }
}

/// A hash that nobody can find a collision of who does not know its key: the bytes, seven at a time, are the coefficients of
/// a polynomial, which is evaluated at the key modulo the prime 2⁶¹ − 1.
///
/// Two different texts of n bytes have the same value for at most n / 7 + 2 of the 2⁶¹ − 2 keys, whatever the texts are:
/// that is how many zeros their difference can have. This is the polynomial hash of Carter and Wegman.
struct KeyedHash {
    static let prime: UInt64 = 1 << 61 - 1
    /// Seven bytes are less than the prime; the eighth comes again with the next word.
    private static let sevenBytes: UInt64 = 0x00FF_FFFF_FFFF_FFFF

    /// The place that the polynomial is evaluated at, with its powers: four coefficients are added in one step, for each
    /// step has to wait for the one before.
    struct Key: Sendable {
        fileprivate let first: UInt64
        fileprivate let second: UInt64
        fileprivate let third: UInt64
        fileprivate let fourth: UInt64

        /// - Parameter number: random, 1 ..< ``prime``.
        init(_ number: UInt64) {
            first = number
            second = KeyedHash.reduce(number.multipliedFullWidth(by: number))
            third = KeyedHash.reduce(second.multipliedFullWidth(by: number))
            fourth = KeyedHash.reduce(third.multipliedFullWidth(by: number))
        }
    }

    private let key: Key
    private var state: UInt64 = 0

    /// The hash, in the upper 61 bits: a table is entered by the upper ones.
    var value: UInt64 { (state >= Self.prime ? state - Self.prime : state) << 3 }

    init(_ key: Key) {
        self.key = key
    }

    /// Returns the hash of one text.
    static func value(of text: Span<UInt8>, under key: Key) -> UInt64 {
        var hash = KeyedHash(key)
        hash.add(text)
        return hash.value
    }

    /// Adds a text, and its length, so that texts do not run together.
    mutating func add(_ text: Span<UInt8>) {
        var index = 0
        while text.count - index >= 29 {
            let (first, second) = (text.word(at: index), text.word(at: index + 7))
            let (third, fourth) = (text.word(at: index + 14), text.word(at: index + 21))
            add(first & Self.sevenBytes, second & Self.sevenBytes, third & Self.sevenBytes, fourth & Self.sevenBytes)
            index += 28
        }
        while text.count - index >= 8 {
            add(text.word(at: index) & Self.sevenBytes)
            index += 7
        }
        var rest: UInt64 = 0
        var shift: UInt64 = 0
        while index < text.count {
            if shift == 56 {
                add(rest)
                (rest, shift) = (0, 0)
            }
            rest |= UInt64(text[index]) << shift
            shift += 8
            index += 1
        }
        add(rest)
        add(UInt64(text.count))
    }

    private mutating func add(_ coefficient: UInt64) {
        state = Self.reduce((state &+ coefficient).multipliedFullWidth(by: key.first))
    }

    private mutating func add(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        // Each product is below 2¹²³: no sum overflows.
        let sum =
            UInt128(state &+ first) &* UInt128(key.fourth) &+ UInt128(second) &* UInt128(key.third)
            &+ UInt128(third) &* UInt128(key.second) &+ UInt128(fourth) &* UInt128(key.first)
        state = Self.reduce((UInt64(truncatingIfNeeded: sum >> 64), UInt64(truncatingIfNeeded: sum)))
    }

    /// A number below 2¹²⁴ modulo the prime, not quite: the result stays below the prime and a little.
    private static func reduce(_ number: (high: UInt64, low: UInt64)) -> UInt64 {
        let folded = (number.high << 3 | number.low >> 61) &+ (number.low & prime)
        return (folded & prime) &+ folded >> 61
    }
}
