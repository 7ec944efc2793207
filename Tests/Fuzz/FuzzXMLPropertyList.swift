import PropertyList

/// Reads hostile text as an XML property list, and checks that an accepted document can be printed.
func fuzzXMLPropertyList(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    for source in [text, Array("<plist>".utf8) + text + Array("</plist>".utf8)] {
        do throws(PropertyListError) {
            let document = try PropertyListDocument(source)
            precondition(document.offset(of: document.root) < source.count, "the offset is outside of the file")
            var options = PropertyListPrinter.Options()
            options.isRaw = true
            options.isCompact = true
            var printer = try PropertyListPrinter(document, options: options)
            var output: [UInt8] = []
            _ = printer.write(atLeast: 1 << 20, to: &output)
            precondition(printer.isLossy == (document.repeatedKeys != nil), "a value cannot be printed")
            precondition((0...source.count).contains(document.repeatedKeys?.offset ?? 0))
        } catch {
            precondition((0...source.count).contains(error.offset), "the offset is outside of the file")
        }
    }
    return 0
}
