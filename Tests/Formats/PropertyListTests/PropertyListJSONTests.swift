import Testing

@testable import PropertyList

@Suite struct PropertyListJSONTests {
    private func json(
        _ file: [UInt8], _ keyOrder: PropertyListJSONWriter.KeyOrder = .file,
        _ nonJSONValues: PropertyListJSONWriter.NonJSONValues = .nearest,
        limits: PropertyListJSONWriter.Limits = PropertyListJSONWriter.Limits()
    ) throws -> String {
        let document = try PropertyListDocument(file)
        var json = PropertyListJSONWriter(document, keyOrder: keyOrder, nonJSONValues: nonJSONValues, limits: limits)
        try json.write(document.root)
        return String(decoding: json.text, as: UTF8.self)
    }

    private func writingError(_ body: () throws -> String) -> PropertyListJSONWriter.WritingError.Kind? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? PropertyListJSONWriter.WritingError)?.kind
        }
    }

    @Test func writesKeysInRequestedOrder() throws {
        let file = xml(
            """
            <dict><key>b</key><dict><key>z</key><true/><key>a</key><false/></dict><key>é</key><integer>-7</integer>
            <key>a</key><array><real>0.5</real><string>x"</string></array></dict>
            """)
        #expect(try json(file) == #"{"b":{"z":true,"a":false},"é":-7,"a":[0.5,"x\""]}"#)
        #expect(try json(file, .canonical) == #"{"a":[0.5,"x\""],"b":{"a":false,"z":true},"é":-7}"#)
    }

    /// Two of the keys are the lone surrogates D800 and D801.
    @Test func keepsLastOfKeysThatBecomeEqual() throws {
        let file = binary("D3 01 02 03 04 05 06", "61 D800", "51 61", "61 D801", "10 01", "10 02", "10 03")
        #expect(try json(file, .canonical) == "{\"a\":2,\"\u{FFFD}\":3}")
    }

    @Test(
        "Values that JSON cannot represent are approximated or rejected",
        arguments: [
            ("<date>2017-06-16T06:38:13Z</date>", #"["2017-06-16T06:38:13Z"]"#),
            ("<data>AQI=</data>", #"["AQI="]"#),
            ("<real>nan</real>", "[null]"), ("<real>-inf</real>", "[null]"),
        ])
    func handlesNonJSONValues(value: String, nearest: String) throws {
        let file = xml("<array>\(value)</array>")
        #expect(try json(file) == nearest)
        #expect(writingError { try json(file, .file, .refused) } == .unrepresentable)
    }

    @Test func writesUIDsAsNumbers() throws {
        #expect(try json(binary("A1 01", "80 05")) == "[5]")
        #expect(writingError { try json(binary("A1 01", "80 05"), .file, .refused) } == .unrepresentable)
    }

    @Test func writesNullForDatesBeyondCalendar() throws {
        #expect(try json(binary("A1 01", "33 7FEF FFFF FFFF FFFF")) == "[null]")
    }

    /// Each array contains the next one ten times, which makes 1,111 values in all.
    @Test(
        "Each limit has its own error",
        arguments: [
            (PropertyListJSONWriter.Limits(), nil),
            (PropertyListJSONWriter.Limits(valueSize: 5221, fileSize: 5221, valueCount: 1111), nil),
            (PropertyListJSONWriter.Limits(valueSize: 100), .tooLarge),
            (PropertyListJSONWriter.Limits(fileSize: 5220), .outOfBudget),
            (PropertyListJSONWriter.Limits(valueCount: 1110), .outOfBudget),
        ] as [(PropertyListJSONWriter.Limits, PropertyListJSONWriter.WritingError.Kind?)])
    func enforcesLimits(
        limits: PropertyListJSONWriter.Limits, writingError expected: PropertyListJSONWriter.WritingError.Kind?
    ) {
        func tens(_ number: Int) -> String { "AA " + String(repeating: "0\(number) ", count: 10) }
        let file = binary(tens(1), tens(2), tens(3), "09")
        #expect(writingError { try json(file, limits: limits) } == expected)
    }

    @Test func limitsAllValuesTogether() throws {
        let document = try PropertyListDocument(xml("<array><string>0123</string></array>"))
        var json = PropertyListJSONWriter(
            document, keyOrder: .file, nonJSONValues: .refused,
            limits: PropertyListJSONWriter.Limits(valueSize: 8, fileSize: 24))
        for _ in 0..<3 { try json.write(document.root) }
        let error = #expect(throws: PropertyListJSONWriter.WritingError.self) { try json.write(document.root) }
        #expect(error?.kind == .outOfBudget)
        #expect(error?.node == document.root)
    }
}
