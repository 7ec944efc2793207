import TestSupport
import Testing

@testable import PropertyList

/// Tests that the linear check of a binary property list accepts ordinary files, and only files that the full check accepts.
@Suite struct SweepTests {
    private func passesSweep(_ file: [UInt8]) -> Bool {
        guard let layout = try? BinaryLayout(of: file.span) else { return false }
        var validator = BinaryValidator(layout: layout, limits: PropertyListLimits())
        return validator.passesSweep(file.span)
    }

    private func isAccepted(_ file: [UInt8]) -> Bool {
        guard let layout = try? BinaryLayout(of: file.span) else { return false }
        var validator = BinaryValidator(layout: layout, limits: PropertyListLimits())
        return (try? validator.walk(file.span)) != nil
    }

    /// Returns a file with all kinds of objects, including shared ones.
    private func ordinaryFile() throws -> [UInt8] {
        try python(
            """
            import datetime, plistlib, sys
            shared = ["a", 1, {"deep": [[], {}]}]
            value = {"text": "x" * 20, "wide": "\\u00e9\\u4e00", "data": b"123", "real": 1.5, "date": datetime.datetime(2020, 1, 1),
                     "list": [shared, shared, True, False, 2 ** 63], "uid": plistlib.UID(7), "more": {"text": "y", "list": []}}
            sys.stdout.buffer.write(plistlib.dumps(value, fmt=plistlib.FMT_BINARY))
            """)
    }

    @Test func ordinaryFilesPass() throws {
        let file = try ordinaryFile()
        #expect(passesSweep(file))
        #expect(isAccepted(file))
    }

    @Test(
        "A container that precedes its parent requires a walk",
        arguments: [
            // The root is object 1, which contains object 0.
            "a0 a100 08 09 000000000000 01 01 0000000000000002 0000000000000001 000000000000000b",
            // The root is object 0, which contains object 2, which contains object 1.
            "a102 a0 a101 08 0a 0b 000000000000 01 01 0000000000000003 0000000000000000 000000000000000d",
        ])
    func containersBeforeParentsDoNotPass(objects: String) {
        let file = bytes("62706c6973743030 " + objects)
        #expect(!passesSweep(file))
        #expect(isAccepted(file))
    }

    @Test func cyclesDoNotPass() {
        let file = bytes(
            "62706c6973743030 a100 08 000000000000 01 01 0000000000000001 0000000000000000 000000000000000a")
        #expect(!passesSweep(file))
        #expect(!isAccepted(file))
    }

    @Test func walkAcceptsFilesThatPass() throws {
        let file = try ordinaryFile()
        var random = SeededGenerator(seed: 5)
        var passed = 0
        for _ in 0..<20_000 {
            var changed = file
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                changed[Int.random(in: 8..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard passesSweep(changed) else { continue }
            passed += 1
            #expect(isAccepted(changed), "\(changed)")
        }
        #expect(passed > 100)
    }
}
