import Bytes

/// Finds the places of things by their hashes, in 5 to 11 bytes each: the things themselves stand elsewhere.
struct PlaceTable: Sendable {
    private var slots = [OptionalUInt32](repeating: OptionalUInt32(nil), count: 16)
    private var count = 0

    /// The place of a thing; nil if it is not there.
    /// - Parameter isIt: whether the thing at a place is the one that is looked for.
    func place(hash: Int, _ isIt: (Int) -> Bool) -> Int? {
        var slot = home(of: hash)
        while let place = slots[slot].value {
            if isIt(Int(place)) { return Int(place) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Enters a thing that is not there.
    /// - Parameter hash: gives the hash of the thing at a place, this one or any other.
    mutating func insert(_ place: Int, hash: (Int) -> Int) {
        if count * 4 >= slots.count * 3 {
            let old = slots
            slots = Array(repeating: OptionalUInt32(nil), count: 2 * old.count)
            for place in old.lazy.compactMap(\.value) { enter(place, hash(Int(place))) }
        }
        enter(UInt32(place), hash(place))
        count += 1
    }

    private mutating func enter(_ place: UInt32, _ hash: Int) {
        var slot = home(of: hash)
        while slots[slot].value != nil { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = OptionalUInt32(place)
    }

    private func home(of hash: Int) -> Int { hash & (slots.count - 1) }
}
