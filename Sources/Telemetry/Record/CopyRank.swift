import Bytes
import Hashing

/// The rank of a copy of a record, which decides which of several copies is kept.
///
/// Records are copies if their keys are equal. They can differ in their holds, because holds also depend on what
/// surrounds a record in its capture. The copy with the lowest rank is kept:
///
/// 1. a copy with a final withdrawal, `forgotten` or `deletion-requested`
/// 2. a copy that was delivered
/// 3. a copy of a user who has switched off usage data
/// 4. a copy that is not held
/// 5. the copy with the fewest holds
///
/// Of copies of the same kind, the one with the fewest holds is kept, and of these the one whose holds come first in the
/// order of their UTF-8 bytes. The result therefore does not depend on the order of the copies. Copies with equal ranks
/// have equal holds, and the first one is kept.
///
/// Source: "The record", section "Copies".
public struct CopyRank: Sendable, Hashable {
    /// The number of the rule above that applies to the copy.
    private let rule: UInt8
    private let holdCount: UInt8
    /// The holds, separated by semicolons.
    @CapturedText public private(set) var text: String

    /// The rank of a copy that is not held.
    public static let notHeld = CopyRank([])

    /// Creates the rank of a copy with the given holds.
    public init(_ holds: [Hold]) {
        rule = holds.reduce(holds.isEmpty ? 4 : 5) { min($0, Self.rules[$1.code] ?? 5) }
        holdCount = UInt8(clamping: holds.count)
        text = holds.map(\.text).joined(separator: "; ")
    }

    private static let rules: [CapturedText: UInt8] = Dictionary(
        uniqueKeysWithValues: [(Hold.forgotten, 1), (.deletionRequested, 1), (.delivered, 2), (.optedOut, 3)].map {
            (CapturedText($0.0.code), $0.1)
        })

    /// The codes of holds because of which a copy is kept instead of a copy that is not held.
    public static let decisiveCodes = rules.keys.sortedStrings

    /// Whether the copy is kept instead of a copy that is not held.
    public var isDecisive: Bool { rule < 4 }

    /// Whether the copy was delivered, and is kept for this reason.
    public var isDelivered: Bool { rule == 2 }

    /// Whether a copy with fewer or other holds can exist, because the holds do not depend on the payload alone.
    ///
    /// For a single hold, the code determines whether it depends on the payload alone. A record with several holds can
    /// have a copy with one of them.
    public static func dependsOnSurroundings(_ holds: [Hold]) -> Bool {
        holds.count > 1 || holds.contains { !payloadCodes.contains($0.code) }
    }

    private static let payloadCodes = Set(
        [Hold.schema([]), .tooFewEvents, .tooManyEvents, .pendingEvents, .severalClients].map { CapturedText($0.code) })

    /// A number for the index of a bundle, which orders ranks like `<`, except that the order of ranks with the same
    /// rule and the same number of holds is arbitrary.
    ///
    /// Different ranks have different numbers, except with negligible probability.
    public var indexNumber: UInt64 {
        let hash = Digest16(of: text.utf8.span).high
        return UInt64(rule) << 56 | UInt64(holdCount) << 48 | hash >> 16
    }

    /// Returns whether a copy with the given ``indexNumber`` makes a copy of this rank superfluous.
    ///
    /// If it is unknown which of two copies is kept, the result is `false`, because a reader of both keeps the right
    /// one.
    public func isSuperseded(byCopyWith number: UInt64) -> Bool {
        let own = indexNumber
        return number == own || number >> 48 < own >> 48
    }
}

extension CopyRank: Comparable {
    /// Returns whether a copy of rank `left` is kept instead of a copy of rank `right`.
    public static func < (left: CopyRank, right: CopyRank) -> Bool {
        if (left.rule, left.holdCount) != (right.rule, right.holdCount) {
            return (left.rule, left.holdCount) < (right.rule, right.holdCount)
        }
        return left._text < right._text
    }
}
