import JSONText
import PropertyList

/// Reads hostile bytes as a keyed archive, prints it, and computes all expansions.
func fuzzKeyedArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let document = try? PropertyListDocument(bytes) else { return 0 }
    printAll(document)
    guard var archive = try? KeyedArchive(document, classNames: [["SiftEvent"], ["NSSet"]]) else { return 0 }
    // Many objects can share the same values, each of which is then read many times.
    var remainingCount = 20_000
    for position in 0..<min(archive.objects.count, 2000) where remainingCount > 0 {
        let object = document.element(at: position, of: archive.objects)
        guard let expansion = try? archive.expansion(of: object) else { continue }
        remainingCount -= min(expansion.count, 500)
        precondition(expansion.count >= 1 && (1...Expansion.allowedDepth).contains(expansion.depth))
        // A value with a small expansion can be read completely without checking for cycles.
        if expansion.count < 500 { precondition(read(object, of: &archive, depth: 1) <= expansion.count + 1) }
    }
    return 0
}

private func printAll(_ document: PropertyListDocument) {
    for bits in 0..<8 {
        var options = PropertyListPrinter.Options()
        options.isCompact = bits & 1 == 1
        options.opensNestedLists = bits & 2 == 2
        options.sortsKeys = bits & 4 == 4
        guard var printer = try? PropertyListPrinter(document, options: options) else { return }
        var output: [UInt8] = []
        guard !printer.write(atLeast: 1 << 16, to: &output), document.objectCount < 1000 else { continue }
        precondition((try? JSONDocument(output, policy: .lastKey)) != nil, "the output is not JSON")
    }
}

extension JSONReadingPolicy {
    /// A policy for repeated keys, because members of an instance can have the names that the printer uses.
    fileprivate static let lastKey = JSONReadingPolicy(duplicateKeys: .lastWins)
}

/// Reads a value with everything that it refers to.
///
/// - Returns: The number of values, or 0 if there was an error.
private func read(_ stored: PropertyListNode, of archive: inout KeyedArchive, depth: Int) -> Int {
    precondition(depth <= Expansion.allowedDepth + 1, "the value is deeper than its expansion")
    var count = 1
    do throws(PropertyListError) {
        switch try archive.value(of: stored) {
        case .array(let elements, _):
            for position in 0..<elements.count {
                count += read(try archive.element(at: position, of: elements), of: &archive, depth: depth + 1)
            }
        case .dictionary(let pairs):
            for position in 0..<pairs.count {
                count += read(try archive.element(at: position, of: pairs.values), of: &archive, depth: depth + 1)
            }
        default: break
        }
    } catch {
        return 0
    }
    return count
}
