@testable import PropertyList

/// Returns the bytes that hexadecimal digits encode, ignoring white space.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.filter { !$0.isWhitespace }
    return stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(digits.dropFirst(index).prefix(2), radix: 16)
    }
}

/// Returns a binary property list of objects given in hexadecimal.
///
/// The first object is the root.
func binary(_ objects: String..., offsetSize: Int = 1, referenceSize: Int = 1) -> [UInt8] {
    var file = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
        offsets.append(file.count)
        file += bytes(object)
    }
    let table = file.count
    for offset in offsets { file += bigEndian(offset, offsetSize) }
    file += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    return file + bigEndian(objects.count, 8) + bigEndian(0, 8) + bigEndian(table, 8)
}

func bigEndian(_ number: Int, _ width: Int) -> [UInt8] {
    (0..<width).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * $0)) : 0 }
}

/// Returns the output of the printer for a property list, on one line.
func printed(_ file: [UInt8], raw: Bool = false, nested: Bool = false, sorted: Bool = false) throws -> String {
    var options = PropertyListPrinter.Options()
    options.isCompact = true
    options.isRaw = raw
    options.opensNestedLists = nested
    options.sortsKeys = sorted
    var printer = try PropertyListPrinter(try PropertyListDocument(file), options: options)
    var output: [UInt8] = []
    while printer.write(atLeast: output.count + 1, to: &output) {}
    return String(decoding: output.dropLast(), as: UTF8.self)
}

/// Returns the code of the error that `file` causes, or `nil` if the file is valid.
func errorCode(of file: [UInt8]) -> PropertyListError.Code? {
    do throws(PropertyListError) {
        _ = try PropertyListDocument(file)
        return nil
    } catch {
        return error.code
    }
}

/// Returns an XML property list that contains `value`.
func xml(_ value: String) -> [UInt8] {
    Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\(value)</plist>\n".utf8)
}
