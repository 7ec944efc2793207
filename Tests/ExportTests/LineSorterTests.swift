import Bytes
import Testing

@testable import Export

/// Tests of sorting lines by time.
@Suite struct LineSorterTests {
    /// Returns the sorted lines of `parts`, with parts of at most `memoryLimit` bytes sorted in memory.
    private func sorted(_ parts: [[(time: Int64, text: String)]], memoryLimit: Int) throws -> [String] {
        var sorter = LineSorter(folder: "/tmp", memoryLimit: memoryLimit)
        for part in parts {
            var lines = TimedLines()
            for line in part { lines.append(at: line.time) { $0.append(copying: (line.text + "\n").utf8.span) } }
            try sorter.add(lines)
        }
        var output: [UInt8] = []
        try sorter.finish { output.append(copying: $0) }
        return String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    @Test("Lines are in the order of their times, and in the order of addition if the times are equal")
    func order() throws {
        let parts: [[(time: Int64, text: String)]] = [
            [(5, "a"), (-1, "b"), (5, "c")], [], [(.max, "d"), (5, "e"), (.min, "f")], [(-1, "g")],
        ]
        // In memory, and with a run for each part.
        for limit in [1 << 20, 1] {
            #expect(try sorted(parts, memoryLimit: limit) == ["f", "b", "g", "a", "c", "e", "d"])
        }
        #expect(try sorted([], memoryLimit: 1) == [])
    }

    @Test("Many runs are merged, including lines that are longer than the buffer for reading")
    func runs() throws {
        var generator = SystemRandomNumberGenerator()
        var parts = (0..<300).map { part in
            (0..<40).map { (time: Int64.random(in: 0..<500, using: &generator), text: "\(part) \($0)") }
        }
        parts[7][3].text += String(repeating: "x", count: 200_000)
        parts[150][0].text += String(repeating: "y", count: 20_000_000)
        let expected = parts.joined().enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }
        let found = try sorted(parts, memoryLimit: 1)
        #expect(found.count == expected.count)
        #expect(zip(found, expected).allSatisfy { $0 == $1.element.text })
    }
}
