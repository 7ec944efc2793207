import Bytes
import TestSupport
import Testing

@testable import PropertyList

/// Tests that the work for property lists and keyed archives is proportional to their size.
@Suite struct GrowthTests {
    /// Returns an archive whose root is an array of `elements`, which are the objects from number 2 on.
    private func archive(_ elements: String, after objects: String) throws -> [UInt8] {
        try Archive.make("{'$class': U(2), 'NS.objects': \(elements)}, cls('NSArray'), \(objects)")
    }

    private func printing(_ file: [UInt8], nested: Bool = false) throws -> (work: Int, output: Int) {
        var options = PropertyListPrinter.Options()
        options.opensNestedLists = nested
        var printer = try PropertyListPrinter(try PropertyListDocument(file), options: options)
        var (output, size) = ([UInt8](), 0)
        var hasMore = true
        while hasMore {
            output.removeAll(keepingCapacity: true)
            hasMore = printer.write(atLeast: 1 << 20, to: &output)
            size += output.count
        }
        return (printer.budget.byteCount + printer.budget.nodeCount, size)
    }

    @Test("Validating grows with the number of elements, members and objects with one offset")
    func validation() throws {
        func work(_ file: [UInt8]) throws -> Int {
            var validator = BinaryValidator(layout: try BinaryLayout(of: file.span), limits: PropertyListLimits())
            try validator.validate(file.span)
            return validator.budget.byteCount
        }
        try expectLinearGrowth(of: "elements", from: 500) { count in
            try work(list("[i for i in range(\(count))]"))
        }
        try expectLinearGrowth(of: "members", from: 500) { count in
            try work(list("{'k' * 300 + str(i): i for i in range(\(count))}"))
        }
        try expectLinearGrowth(of: "dictionaries with the same keys", from: 500) { count in
            try work(list("[{'a': i, 'b': [i]} for i in range(\(count))]"))
        }
    }

    /// Returns a binary property list of the value of a Python expression.
    private func list(_ value: String) throws -> [UInt8] {
        try python("import plistlib, sys; sys.stdout.buffer.write(plistlib.dumps(\(value), fmt=plistlib.FMT_BINARY))")
    }

    @Test(
        "Printing grows with the number of values, even if they share keys, classes and strings",
        arguments: [
            ("strings", "'x' * 40"), ("dictionaries", "{'$class': U(4), 'NS.keys': [U(5)], 'NS.objects': [U(5)]}"),
            ("instances", "{'$class': U(6), 'z': 1}"), ("mutable strings", "{'$class': U(7), 'NS.string': 'y' * 50}"),
            ("URLs", "{'$class': U(8), 'NS.relative': U(5)}"), ("data", "b'bplist00' * 9"),
        ])
    func printing(name: String, element: String) throws {
        try expectLinearGrowth(of: name, from: 100) { count in
            let objects = """
                'x', cls('NSDictionary'), 'k' * 500, cls('C' * 500), cls('NSMutableString', 'NSString'), cls('NSURL'),
                *[\(element) for i in range(\(count))]
                """
            return try printing(try archive("[U(9 + i) for i in range(\(count))]", after: objects)).work
        }
    }

    @Test(
        "The output of a file that shares its keys, classes and strings is limited",
        arguments: [
            "{'$class': U(4), 'NS.keys': [U(5)], 'NS.objects': [U(3)]}", "{'$class': U(6), 'z': i}",
            "{'$class': U(7), 'NS.string': shared, 'z': i}", "{'$class': U(8), 'NS.relative': U(5), 'z': i}",
            "{'$class': U(9), 'NS.data': data, 'z': i}",
        ])
    func limitsOutput(element: String) throws {
        let objects = """
            'x', cls('NSDictionary'), 'k' * 500000, cls('C' * 500000), cls('NSMutableString', 'NSString'), cls('NSURL'),
            cls('NSData'), *(lambda shared, data: [\(element) for i in range(2000)])('s' * 500000, b'd' * 500000)
            """
        let file = try archive("[U(10 + i) for i in range(2000)]", after: objects)
        let (work, output) = try printing(file)
        #expect(output < 34 << 20 + 40 * file.count)
        #expect(work < 40 << 20 + 40 * file.count)
    }

    @Test("An output that is cut off is valid JSON and reports the loss")
    func cutOff() throws {
        let objects = "'x', cls('NSDictionary'), 'k' * 500000"
        let file = try archive(
            "[U(6 + i) for i in range(300)]",
            after:
                "\(objects), *[{'$class': U(4), 'NS.keys': [U(5)], 'NS.objects': [U(3)], 'z': i} for i in range(300)]")
        var printer = try PropertyListPrinter(try PropertyListDocument(file))
        var output: [UInt8] = []
        while printer.write(atLeast: output.count + 1, to: &output) {}
        let check = "import json, sys; value = json.load(sys.stdin); print(len(value), value[-1])"
        let text = String(decoding: try tool(["python3", "-c", check], input: output), as: UTF8.self)
        #expect(text.contains("budget-exceeded"))
        #expect(printer.isLossy && printer.warnings.map(\.error.code) == [.budgetExceeded])
    }

    @Test("Searching a large instance again takes no further work")
    func largeInstances() throws {
        try expectLinearGrowth(of: "references to an instance with as many members", from: 200) { count in
            let members = "{'m%d' % i: U(0) for i in range(\(count))}"
            let file = try archive("[U(3)] * \(count)", after: members)
            var archive = try KeyedArchive(try PropertyListDocument(file))
            guard case .array(let elements, _) = try archive.value(ofObject: try archive.root()) else { return 0 }
            let key = archive.key("absent")
            for position in 0..<elements.count {
                let object = try archive.object(try archive.element(at: position, of: elements))
                guard let object else { continue }
                #expect(archive.member(key, of: object) == nil)
                #expect(throws: PropertyListError.self) { try archive.value(ofObject: object) }
            }
            return archive.work.nodeCount
        }
    }

    @Test("An invalid class record is examined once, and a number that refers to itself is invalid")
    func invalidClasses() throws {
        var archive = try KeyedArchive(
            try PropertyListDocument(
                try Archive.make("{'$class': U(2), 'NS.number': U(1)}, cls('NSNumber'), {'$class': U(4)}, {'x': 1}")))
        let number = try archive.root()
        #expect(throws: PropertyListError.self) { try archive.value(ofObject: number) }
        let document = archive.document
        let instance = document.element(at: 3, of: archive.objects)
        let errors = (0..<2).map { _ in
            do throws(PropertyListError) {
                _ = try archive.value(ofObject: instance)
                return nil as PropertyListError?
            } catch {
                return error
            }
        }
        #expect(errors[0]?.code == .badClass && errors[0] == errors[1])
    }

    @Test("Values that are too large for the JSON of a file are charged to its budget")
    func writing() throws {
        let document = try PropertyListDocument(try list("[['x' * 100]] * 20"))
        var writer = PropertyListJSONWriter(
            document, keyOrder: .file, nonJSONValues: .refused,
            limits: PropertyListJSONWriter.Limits(valueSize: 10, fileSize: 1000))
        var kinds: [PropertyListJSONWriter.WritingError.Kind] = []
        for _ in 0..<20 {
            do throws(PropertyListJSONWriter.WritingError) { try writer.write(document.root) } catch {
                kinds.append(error.kind)
            }
        }
        #expect(kinds.first == .tooLarge && kinds.last == .outOfBudget)
    }

    @Test("An excerpt of a string consists of its first scalars", arguments: ["abc", "äöü€", "😀b😀d", ""])
    func excerpts(text: String) throws {
        for count in 0...5 {
            let document = try PropertyListDocument(xml("<string>\(text)</string>"))
            #expect(
                document.excerpt(of: document.root, scalarCount: count) == String(text.unicodeScalars.prefix(count)))
        }
    }
}
