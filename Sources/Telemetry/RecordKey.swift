import JSONText

/// What tells whether two records are the same upload, in 16 bytes.
///
/// Two records are duplicates only when system, type, id and canonical payload are all equal (design, section 2).
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

    /// The key of a record.
    /// - Parameter secret: the same for all records of a run, unknown to those who made them.
    public init(_ record: borrowing Record, secret: RunSecret) {
        var identity = KeyedHash(secret.identity)
        identity.add(record.system.rawValue.utf8.span)
        identity.add(record.type.utf8.span)
        identity.add(record.id.utf8.span)
        self.identity = identity.value
        var content = KeyedHash(secret.content)
        content.add(record.payload.span)
        self.content = content.value
    }
}

/// Random numbers of one run, by which records are told apart.
public struct RunSecret: Sendable {
    let identity: UInt64
    let content: UInt64

    /// Takes two numbers for a secret: what a test does.
    public init(identity: UInt64, content: UInt64) {
        self.identity = identity % KeyedHash.prime
        self.content = content % KeyedHash.prime
    }

    /// Draws a secret.
    public init(using generator: inout some RandomNumberGenerator) {
        identity = UInt64.random(in: 1..<KeyedHash.prime, using: &generator)
        content = UInt64.random(in: 1..<KeyedHash.prime, using: &generator)
    }
}

/// A hash that nobody can find a collision of who does not know its key: the bytes, seven at a time, are the coefficients of
/// a polynomial, which is evaluated at the key modulo the prime 2⁶¹ − 1.
///
/// Two different texts of n bytes have the same value for at most n / 7 + 2 of the 2⁶¹ − 2 keys, whatever the texts are:
/// that is how many zeros their difference can have. This is the polynomial hash of Carter and Wegman.
struct KeyedHash {
    static let prime: UInt64 = 1 << 61 - 1

    private let key: UInt64
    private var state: UInt64 = 0

    /// The hash, in the upper 61 bits: a table is entered by the upper ones.
    var value: UInt64 { (state >= Self.prime ? state - Self.prime : state) << 3 }

    /// - Parameter key: random, 1 ..< ``prime``.
    init(_ key: UInt64) {
        self.key = key
    }

    /// Adds a text, and its length, so that texts do not run together.
    mutating func add(_ text: Span<UInt8>) {
        var index = 0
        while text.count - index >= 8 {
            // Seven bytes are less than the prime; the eighth comes again with the next word.
            add(text.littleEndianWord(at: index) & 0x00FF_FFFF_FFFF_FFFF)
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
        // The state stays below the prime and a little: the product is below 2¹²⁴, and no sum overflows.
        let (high, low) = (state &+ coefficient).multipliedFullWidth(by: key)
        let product = (high << 3 | low >> 61) &+ (low & Self.prime)
        state = (product & Self.prime) &+ product >> 61
    }
}
