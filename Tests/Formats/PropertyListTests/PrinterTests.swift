import TestSupport
import Testing

@testable import PropertyList

/// Tests of the output for shared, cyclic and nested values, and the options of the printer.
@Suite struct PrinterTests {
    @Test func printsCyclesAsReferences() throws {
        let file = try Archive.make(
            "{'$class': U(2), 'child': U(3)}, cls('Node'), {'$class': U(2), 'parent': U(1)}")
        #expect(try printed(file) == #"{"$class":"Node","child":{"$class":"Node","parent":{"$ref":1}}}"#)
    }

    @Test func repeatsSharedValues() throws {
        let file = try Archive.make(
            "{'$class': U(2), 'NS.objects': [U(3), U(3)]}, cls('NSArray'), {'$class': U(2), 'NS.objects': [U(4)]}, 'x'")
        #expect(try printed(file) == #"[["x"],["x"]]"#)
    }

    /// Each of ten arrays contains the next one ten times.
    ///
    /// Omitted values are replaced by references.
    @Test func limitsExpansionOfSharedValues() throws {
        let arrays = (1...10).map { "{'$class': U(12), 'NS.objects': [U(\($0 + 1))] * 10}" }.joined(separator: ", ")
        var printer = try PropertyListPrinter(
            try PropertyListDocument(try Archive.make("\(arrays), 'ha', cls('NSArray')")))
        var length = 0
        var output: [UInt8] = []
        while printer.write(atLeast: 1 << 16, to: &output) {
            length += output.count
            output.removeAll(keepingCapacity: true)
        }
        #expect(length < 60_000_000)
        #expect(printer.warnings.contains { $0.error.code == .budgetExceeded })
        #expect(!printer.isLossy)
    }

    /// Each property list in data contains the next one eight times.
    @Test func limitsExpansionOfNestedPropertyLists() throws {
        let script = """
            import plistlib, sys
            data = b"q"
            for _ in range(8):
                data = plistlib.dumps([data] * 8, fmt=plistlib.FMT_BINARY)
            sys.stdout.buffer.write(data)
            """
        var options = PropertyListPrinter.Options()
        options.opensNestedLists = true
        let file = try Array(tool(["python3", "-c", script]))
        var printer = try PropertyListPrinter(try PropertyListDocument(file), options: options)
        var length = 0
        var output: [UInt8] = []
        while printer.write(atLeast: 1 << 16, to: &output) {
            length += output.count
            output.removeAll(keepingCapacity: true)
        }
        #expect(length < 30_000_000)
        #expect(printer.warnings.contains { $0.error.code == .budgetExceeded })
        #expect(!printer.isLossy)
    }

    /// The cost of repeating a string depends on its length.
    @Test func limitsRepetitionOfLongStrings() throws {
        let file = try Archive.make("{'$class': U(3), 'NS.objects': [U(2)] * 100000}, 'x' * 100000, cls('NSArray')")
        var printer = try PropertyListPrinter(try PropertyListDocument(file))
        var output: [UInt8] = []
        while printer.write(atLeast: output.count + 1, to: &output) {}
        #expect(output.count < 100_000_000)
        #expect(printer.warnings.contains { $0.error.code == .budgetExceeded })
    }

    @Test func keepsFirstValueOfRepeatedKeys() throws {
        let file = try Archive.make(
            """
            {'$class': U(2), 'NS.keys': [U(3), U(4)], 'NS.objects': [U(5), U(6)]}, cls('NSDictionary'), 'k',
            {'$class': U(7), 'NS.string': 'k'}, 1, 2, cls('NSMutableString', 'NSString')
            """)
        var printer = try PropertyListPrinter(try PropertyListDocument(file))
        var output: [UInt8] = []
        while printer.write(atLeast: output.count + 1, to: &output) {}
        #expect(String(decoding: output, as: UTF8.self) == "{\n  \"k\": 1\n}\n")
        #expect(printer.warnings.map(\.error.code) == [.duplicateKey])
        #expect(printer.isLossy)
    }

    @Test func opensPropertyListsInData() throws {
        let inner = "plistlib.dumps({'a': 1}, fmt=plistlib.FMT_BINARY)"
        let plain = try Archive.make(inner)
        #expect(try printed(plain).hasSuffix(#","$holds":"property list"}"#))
        #expect(try printed(plain, nested: true) == #"{"$value":{"a":1}}"#)
        let archive = try Archive.make(
            """
            plistlib.dumps({'$version': 100000, '$archiver': 'NSKeyedArchiver', '$top': {'root': U(1)},
                            '$objects': ['$null', 'deep']}, fmt=plistlib.FMT_BINARY)
            """)
        #expect(try printed(archive).hasSuffix(#","$holds":"keyed archive"}"#))
        #expect(try printed(archive, nested: true) == #"{"$value":"deep"}"#)
    }

    @Test func printsRawArchive() throws {
        #expect(
            try printed(try Archive.make("'x'"), raw: true)
                == #"{"$version":100000,"$archiver":"NSKeyedArchiver","$top":{"root":{"CF$UID":1}},"$objects":["$null","x"]}"#
        )
    }

    @Test func printsAllTopLevelNames() throws {
        let file = try Archive.make("'x'", top: "{'first': U(1), 'count': 3, 'none': U(0)}")
        #expect(try printed(file) == #"{"first":"x","count":3,"none":null}"#)
    }

    @Test func sortsKeysIfRequested() throws {
        let file = xml("<dict><key>b</key><true/><key>é</key><true/><key>a</key><true/></dict>")
        #expect(try printed(file) == #"{"b":true,"é":true,"a":true}"#)
        #expect(try printed(file, sorted: true) == #"{"a":true,"b":true,"é":true}"#)
    }

    @Test func writesInPieces() throws {
        let document = try PropertyListDocument(
            xml("<array><dict><key>a</key><array/></dict><string>x</string><data>AQ==</data></array>"))
        var pieces: [UInt8] = []
        var printer = try PropertyListPrinter(document)
        while true {
            var piece: [UInt8] = []
            let hasMore = printer.write(atLeast: 1, to: &piece)
            pieces += piece
            if !hasMore { break }
        }
        #expect(
            String(decoding: pieces, as: UTF8.self)
                == "[\n  {\n    \"a\": []\n  },\n  \"x\",\n  {\"$data\": \"AQ==\"}\n]\n")
    }
}
