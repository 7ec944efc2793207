import Hashing

@testable import DeviceBackup

/// Reads hostile bytes as the keybag of a backup, without deriving keys, which would be too slow.
func fuzzKeybag(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(KeybagError) {
        check(try Keybag(bytes))
    } catch {
        return 0
    }
    return 0
}

private func check(_ bag: Keybag) {
    precondition(Keybag.supportedRounds.contains(bag.derivation.last.rounds), "the number of rounds exceeds the limit")
    if let first = bag.derivation.first {
        precondition(Keybag.supportedRounds.contains(first.rounds), "the number of rounds exceeds the limit")
    }
    precondition(Set(bag.classItems.map(\.number)).count == bag.classItems.count, "a class is repeated")
    precondition(bag.classItems.allSatisfy { (0...15).contains($0.number) }, "the number of a class is out of range")
    // The class keys are not wrapped with this key, except by chance.
    guard let key = CipherKey([UInt8](repeating: 7, count: 32)) else { return }
    if let keys = ClassKeys(bag, under: key), let wrapped = WrappedKey([UInt8](repeating: 3, count: WrappedKey.size)) {
        _ = try? keys.unwrap(wrapped)
    }
}
