/// Decisions read from the bytes of an input, so that the fuzzer can vary each of them.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// Returns a number below `count`.
    mutating func number(below count: Int) -> Int { Int(bytes.popFirst() ?? 0) % count }

    mutating func one<Value>(of values: [Value]) -> Value { values[number(below: values.count)] }

    /// Returns `true` for about one in sixteen choices.
    mutating func isRare() -> Bool { number(below: 16) == 1 }

    /// Returns the stored name of a member.
    mutating func name() -> [UInt8] {
        switch number(below: 5) {
        case 0: Array("MozTelemetry-Default-core/-t-\(number(below: 4)).json".utf8)
        case 1: Array("folder\(number(below: 3))/file".utf8)
        default: one(of: Self.names)
        }
    }

    /// Returns the contents of a member.
    mutating func contents() -> [UInt8] {
        Array(repeating: UInt8(ascii: "x"), count: one(of: [0, 0, 1, 5, 511, 512, 513, 1500]))
    }

    private static let names: [[UInt8]] =
        [
            "", "a", "b/", ".", "./", "..", "../a", "/a", "a//b", "./a", "__MACOSX/a", "a.zip", "e\u{301}", "\u{E9}",
            "a\\b", "a\u{0}b", String(repeating: "n", count: 99), String(repeating: "n", count: 100),
            String(repeating: "n/", count: 60) + "-t-1.json", String(repeating: "n/", count: 49) + "m/",
        ].map { Array($0.utf8) } + [[0xFF], [0x61, 0xFF, 0x2F, 0x62], [0xE9, 0x2F]]
}
