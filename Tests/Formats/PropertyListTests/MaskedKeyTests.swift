import TestSupport
import Testing

@testable import PropertyList

/// Tests that the values of masked keys are not printed.
@Suite struct MaskedKeyTests {
    /// The keys that are masked in all tests.
    private static let keys: Set<[UInt8]> = [Array("secret".utf8), Array("clé".utf8)]

    /// Returns the output for a property list, and the printer after it has written the output.
    private func output(
        of file: [UInt8], masking keys: Set<[UInt8]> = keys, raw: Bool = false, nested: Bool = false,
        compact: Bool = true, sorted: Bool = false
    ) throws -> (json: String, printer: PropertyListPrinter) {
        var options = PropertyListPrinter.Options()
        options.isRaw = raw
        options.opensNestedLists = nested
        options.isCompact = compact
        options.sortsKeys = sorted
        options.maskedKeys = keys
        var printer = try PropertyListPrinter(try PropertyListDocument(file), options: options)
        var output: [UInt8] = []
        while printer.write(atLeast: output.count + 1, to: &output) {}
        return (String(decoding: output.dropLast(), as: UTF8.self), printer)
    }

    @Test(
        "Members of instances and keys of dictionaries are masked",
        arguments: [
            // Members of instances: references, inline scalars and inline arrays.
            (
                "{'$class': U(2), 'a': 1, 'secret': U(3)}, cls('P'), 'x'",
                #"{"$class":"P","a":1,"secret":{"$masked":true}}"#, 1
            ),
            (
                "{'$class': U(2), 'secret': 5, 'a': 1}, cls('P')",
                #"{"$class":"P","secret":{"$masked":true},"a":1}"#, 1
            ),
            (
                "{'$class': U(2), 'secret': [U(3), U(3)]}, cls('P'), 'x'",
                #"{"$class":"P","secret":{"$masked":true}}"#, 1
            ),
            (
                "{'$class': U(2), 'secret': U(0), 'clé': 'x'}, cls('P')",
                #"{"$class":"P","secret":{"$masked":true},"clé":{"$masked":true}}"#, 2
            ),
            // Keys of dictionaries, which are stored in arrays or as members.
            (
                "{'$class': U(2), 'NS.keys': [U(3), U(4)], 'NS.objects': [U(5), U(6)]}, cls('NSDictionary'), 'a', 'secret', 1, 'x'",
                #"{"a":1,"secret":{"$masked":true}}"#, 1
            ),
            (
                "{'$class': U(2), 'NS.key.0': U(3), 'NS.object.0': U(4)}, cls('NSDictionary'), 'secret', 7",
                #"{"secret":{"$masked":true}}"#, 1
            ),
            // Keys that are stored as UTF-16, as data, and as an instance.
            (
                "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(4)]}, cls('NSDictionary'), 'clé', 1",
                #"{"clé":{"$masked":true}}"#, 1
            ),
            (
                "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(5)]}, cls('NSDictionary'), {'$class': U(4), 'NS.bytes': b'secret'}, cls('NSMutableString', 'NSString'), 1",
                #"{"secret":{"$masked":true}}"#, 1
            ),
            (
                "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(5)]}, cls('NSDictionary'), {'$class': U(4), 'NS.string': 'secret'}, cls('NSMutableString', 'NSString'), 1",
                #"{"secret":{"$masked":true}}"#, 1
            ),
            // A dictionary whose keys are not all strings.
            (
                "{'$class': U(2), 'NS.keys': [U(3), U(4)], 'NS.objects': [U(5), U(5)]}, cls('NSDictionary'), 5, 'secret', 'x'",
                #"{"$entries":[[5,"x"],["secret",{"$masked":true}]]}"#, 1
            ),
            // A key that is an instance with a masked member.
            (
                "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(5)]}, cls('NSDictionary'), {'$class': U(4), 'secret': 1}, cls('P'), 'x'",
                #"{"$entries":[[{"$class":"P","secret":{"$masked":true}},"x"]]}"#, 1
            ),
            // Plain dictionaries in the archive.
            (
                "{'$class': U(2), 'a': {'secret': 1, 'b': 2}}, cls('P')",
                #"{"$class":"P","a":{"secret":{"$masked":true},"b":2}}"#, 1
            ),
            // Instances in a collection.
            (
                "{'$class': U(2), 'NS.objects': [U(3), U(4)]}, cls('NSArray'), {'$class': U(5), 'secret': 1}, {'$class': U(5), 'secret': 2}, cls('P')",
                #"[{"$class":"P","secret":{"$masked":true}},{"$class":"P","secret":{"$masked":true}}]"#, 2
            ),
        ])
    func masksArchives(objects: String, json: String, count: Int) throws {
        let (text, printer) = try output(of: try Archive.make(objects))
        #expect(text == json)
        #expect(printer.maskedCount == count)
        #expect(printer.warningCount == 0)
    }

    @Test(
        "Values in objects of other names are printed",
        arguments: [
            "{'$class': U(2), 'secrets': 1, 'secre': 2, 'Secret': 3, 'a': 'secret', 'cle': 4}, cls('secret')",
            "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(4)]}, cls('NSDictionary'), 'a', 'secret'",
            "{'$class': U(2), 'NS.objects': [U(3), U(3)]}, cls('NSSet'), 'secret'",
            "'secret'",
        ])
    func printsOtherValues(objects: String) throws {
        let file = try Archive.make(objects)
        for (isCompact, isSorted) in [(true, false), (true, true), (false, false), (false, true)] {
            let masked = try output(of: file, compact: isCompact, sorted: isSorted)
            let complete = try output(of: file, masking: [], compact: isCompact, sorted: isSorted)
            #expect(masked.json == complete.json)
            #expect(masked.printer.maskedCount == 0)
        }
    }

    @Test func masksNothingByDefault() throws {
        let file = try Archive.make("{'$class': U(2), 'secret': U(3)}, cls('P'), 'x'")
        #expect(try printed(file) == #"{"$class":"P","secret":"x"}"#)
        #expect(PropertyListPrinter.Options().maskedKeys.isEmpty)
    }

    @Test func masksTopLevelNames() throws {
        let file = try Archive.make("'x'", top: "{'secret': U(1), 'b': 3}")
        #expect(try output(of: file).json == #"{"secret":{"$masked":true},"b":3}"#)
    }

    @Test(
        "Plain property lists are masked",
        arguments: [
            xml("<array><dict><key>secret</key><string>x</string><key>a</key><true/></dict></array>"),
            binary("a1 01", "d2 02 03 04 05", "56 736563726574", "51 61", "51 78", "09"),
            // The key is stored as UTF-16 although it is ASCII.
            binary("a1 01", "d2 02 03 04 05", "66 0073 0065 0063 0072 0065 0074", "51 61", "51 78", "09"),
        ])
    func masksPropertyLists(file: [UInt8]) throws {
        #expect(try output(of: file).json == #"[{"secret":{"$masked":true},"a":true}]"#)
    }

    /// An object below a masked key is printed if it also has another key.
    @Test func printsSharedObjectsElsewhere() throws {
        let file = try Archive.make("{'$class': U(2), 'secret': U(3), 'a': U(3)}, cls('P'), {'$class': U(2), 'b': 1}")
        let (json, printer) = try output(of: file)
        #expect(json == #"{"$class":"P","secret":{"$masked":true},"a":{"$class":"P","b":1}}"#)
        #expect(printer.maskedCount == 1)
    }

    @Test func masksEachOccurrenceOfSharedObjects() throws {
        let file = try Archive.make(
            "{'$class': U(2), 'NS.objects': [U(3), U(3)]}, cls('NSArray'), {'$class': U(4), 'secret': U(5)}, cls('P'), 'x'"
        )
        let (json, printer) = try output(of: file)
        #expect(json == #"[{"$class":"P","secret":{"$masked":true}},{"$class":"P","secret":{"$masked":true}}]"#)
        #expect(printer.maskedCount == 2)
    }

    @Test(
        "Faults of masked values are not reported",
        arguments: [
            // A cycle, a reference out of range, an invalid class, and repeated keys.
            ("{'$class': U(2), 'secret': U(1)}, cls('P')", #"{"$class":"P","secret":{"$masked":true}}"#),
            ("{'$class': U(2), 'secret': U(77)}, cls('P')", #"{"$class":"P","secret":{"$masked":true}}"#),
            (
                "{'$class': U(2), 'secret': U(3)}, cls('P'), {'$class': U(9)}",
                #"{"$class":"P","secret":{"$masked":true}}"#
            ),
            (
                "{'$class': U(2), 'secret': U(3)}, cls('P'), {'$class': U(4), 'NS.keys': [U(5), U(5)], 'NS.objects': [U(5), U(5)]}, cls('NSDictionary'), 'k'",
                #"{"$class":"P","secret":{"$masked":true}}"#
            ),
            // Values of dictionaries that are not references.
            (
                "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': ['x']}, cls('NSDictionary'), 'secret'",
                #"{"secret":{"$masked":true}}"#
            ),
            (
                "{'$class': U(2), 'NS.keys': [U(3), U(4)], 'NS.objects': [U(3), 'x']}, cls('NSDictionary'), 5, 'secret'",
                #"{"$entries":[[5,5],["secret",{"$masked":true}]]}"#
            ),
        ])
    func hidesFaults(objects: String, json: String) throws {
        let (text, printer) = try output(of: try Archive.make(objects))
        #expect(text == json)
        #expect(printer.warningCount == 0)
        #expect(!printer.isLossy)
    }

    /// Faults of other values are still reported.
    @Test func reportsOtherFaults() throws {
        let (json, printer) = try output(of: try Archive.make("{'$class': U(2), 'secret': 1, 'a': U(77)}, cls('P')"))
        #expect(json.hasPrefix(#"{"$class":"P","secret":{"$masked":true},"a":{"$error":"uid-out-of-range: "#))
        #expect(printer.isLossy)
    }

    @Test(
        "Property lists in data are masked",
        arguments: [
            ("plistlib.dumps({'secret': 1, 'z': 2}, fmt=plistlib.FMT_BINARY)", #"{"secret":{"$masked":true},"z":2}"#),
            ("plistlib.dumps({'secret': 1, 'z': 2})", #"{"secret":{"$masked":true},"z":2}"#),
            (
                """
                plistlib.dumps({'$version': 100000, '$archiver': 'NSKeyedArchiver', '$top': {'root': U(1)},
                                '$objects': ['$null', {'$class': U(2), 'secret': 'x'}, cls('P')]}, fmt=plistlib.FMT_BINARY)
                """, #"{"$class":"P","secret":{"$masked":true}}"#
            ),
        ])
    func masksNestedPropertyLists(data: String, json: String) throws {
        #expect(try output(of: try Archive.make(data), nested: true).json == #"{"$value":\#(json)}"#)
        let masked = try output(of: try Archive.make("{'$class': U(2), 'secret': \(data)}, cls('P')"), nested: true)
        #expect(masked.json == #"{"$class":"P","secret":{"$masked":true}}"#)
    }

    @Test func masksIndentedAndSortedOutput() throws {
        let file = try Archive.make("{'$class': U(2), 'b': 1, 'secret': 2, 'a': 3}, cls('P')")
        #expect(
            try output(of: file, compact: false).json
                == "{\n  \"$class\": \"P\",\n  \"b\": 1,\n  \"secret\": {\"$masked\": true},\n  \"a\": 3\n}")
        #expect(try output(of: file, sorted: true).json == #"{"$class":"P","a":3,"b":1,"secret":{"$masked":true}}"#)
        let entries = try Archive.make(
            "{'$class': U(2), 'NS.keys': [U(3), U(4)], 'NS.objects': [U(3), U(3)]}, cls('NSDictionary'), 5, 'secret'")
        #expect(
            try output(of: entries, compact: false).json == """
                {"$entries": [
                  [
                    5,
                    5
                  ],
                  [
                    "secret",
                    {"$masked": true}
                  ]
                ]}
                """)
    }

    @Test func masksNothingInRawOutput() throws {
        let file = try Archive.make("{'$class': U(2), 'secret': 1}, cls('P')")
        let (json, printer) = try output(of: file, raw: true)
        #expect(json == (try printed(file, raw: true)))
        #expect(json.contains(#""secret":1"#))
        #expect(printer.maskedCount == 0)
    }

    // MARK: Archives with secrets

    @Test(
        "Archives are identified by their class records",
        arguments: [
            ("{'$class': U(2)}, cls('Sub', 'Base')", ["Sub"], true),
            ("{'$class': U(2)}, cls('Sub', 'Base')", ["Other", "Base"], true),
            ("'x', cls('Unused')", ["Unused"], true), ("'x', cls('Größe')", ["Größe"], true),
            ("'x', {'$classname': 'A'}", ["A"], true), ("'x', {'$classes': ['A']}", ["A"], true),
            ("{'$class': U(2)}, cls('Sub', 'Base')", ["Su", "sub", "Bases", "x"], false),
            ("{'$class': U(2)}, cls('Sub', 'Base')", [], false),
            ("{'$class': U(2), 'name': 'A', '$classes': 'A'}, cls('Sub'), 'A', ['A']", ["A"], false),
            // Class records have few members.
            ("'x', {'$classname': 'A', **{f'{n}': 1 for n in range(64)}}", ["A"], false),
        ])
    func findsClasses(objects: String, names: [String], isFound: Bool) throws {
        let archive = try KeyedArchive(try PropertyListDocument(try Archive.make(objects)))
        #expect(archive.hasClass(named: names) == isFound)
    }

    @Test func findsClassesInXML() throws {
        func reference(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }
        let text = """
            <plist><dict><key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(reference(1))</dict><key>$objects</key><array><string>$null</string>
            <dict><key>$class</key>\(reference(2))<key>secret</key><string>x</string></dict>
            <dict><key>$classname</key><string>P</string></dict></array></dict></plist>
            """
        let wide: [UInt8] = [0xFE, 0xFF] + text.utf8.flatMap { [0, $0] }
        for file in [Array(text.utf8), wide] {
            let archive = try KeyedArchive(try PropertyListDocument(file))
            #expect(archive.hasClass(named: ["P"]))
            #expect(!archive.hasClass(named: ["NSObject"]))
            #expect(try output(of: file).json == #"{"$class":"P","secret":{"$masked":true}}"#)
        }
    }
}
