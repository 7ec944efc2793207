import Testing

@testable import PropertyList

/// Tests of the detection of the format, and the checks of the binary trailer.
///
/// Source: "Keyed archives", A.1 and A.3.
@Suite struct SourceFormatTests {
    @Test(
        arguments: [
            ("", .empty), ("hello", .notPlist), ("bplist", .truncated), ("bplist00", .truncated),
            ("bplist15........................................", .unsupportedVersion), ("{\"a\":1}", .notPlist),
        ] as [(String, PropertyListError.Code)])
    func rejectsUnknownBeginnings(text: String, code: PropertyListError.Code) {
        #expect(errorCode(of: Array(text.utf8)) == code)
    }

    @Test func acceptsByteOrderMarkAndWhitespaceBeforeXML() throws {
        #expect(try printed([0xEF, 0xBB, 0xBF] + Array(" \n<plist><true/></plist>".utf8)) == "true")
        #expect(try printed(Array("<!DOCTYPE plist PUBLIC \"a>\" 'b'><plist><true/></plist>".utf8)) == "true")
    }

    /// Each case changes one field of the trailer of a valid file.
    @Test(
        arguments: [
            (6, [0], .badTrailer), (6, [9], .badTrailer), (7, [0], .badTrailer), (7, [200], .badTrailer),
            (15, [0], .badTrailer), (15, [4], .badTrailer), (8, [0x10], .badTrailer), (23, [3], .badTrailer),
            (31, [8], .badTrailer), (24, [0xFF], .badTrailer), (31, [12], .badTrailer), (-1, [7], .badOffset),
            (-1, [15], .badOffset),
        ] as [(Int, [UInt8], PropertyListError.Code)])
    func rejectsMalformedTrailer(offset: Int, value: [UInt8], code: PropertyListError.Code) {
        var file = binary("a2 01 02", "1007", "1008")
        file.replaceSubrange(file.count - 32 + offset..<file.count - 32 + offset + value.count, with: value)
        #expect(errorCode(of: file) == code)
    }

    @Test func rejectsTruncatedFiles() {
        let file = binary("a2 01 02", "1007", "5161")
        for length in 1..<file.count {
            let code = errorCode(of: Array(file.prefix(length)))
            #expect([.truncated, .badTrailer, .badOffset, .notPlist].contains(code), "\(length)")
        }
        #expect(errorCode(of: file + [0]) == .badTrailer)
    }
}
