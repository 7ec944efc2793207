import JSONText
import Testing

/// Tests of the limit on the number of values of a text, which limits the memory of a document.
@Suite struct ValueLimitTests {
    private func code(_ text: [UInt8], _ limit: JSONReadingPolicy.ValueLimit = .proportional) -> JSONError.Code? {
        var document = JSONDocument()
        return code(text, limit, &document)
    }

    private func code(
        _ text: [UInt8], _ limit: JSONReadingPolicy.ValueLimit, _ document: inout JSONDocument
    ) -> JSONError.Code? {
        do throws(JSONError) {
            try document.read(text, policy: JSONReadingPolicy(valueLimit: limit))
            return nil
        } catch {
            return error.code
        }
    }

    private func zeros(_ count: Int, padding: Int = 0) -> [UInt8] {
        Array("[0\(String(repeating: ",0", count: count - 1))\(String(repeating: " ", count: padding))]".utf8)
    }

    @Test("A text may have 1,048,576 values, and one for each 8 bytes")
    func proportionalLimit() {
        // Without padding, n values and the array have 2n + 1 bytes, so the limit is reached if n = 1,398,102.
        #expect(code(zeros(1_390_000)) == nil)
        #expect(code(zeros(1_400_000)) == .tooManyValues)
        #expect(code(zeros(1_400_000, padding: 100_000)) == nil)
        #expect(code(zeros(1_400_000), .fixed) == nil)
    }

    @Test("The limit does not depend on earlier texts")
    func reusedMemory() {
        var document = JSONDocument()
        #expect(code(zeros(3_000_000), .fixed, &document) == nil)
        #expect(code(zeros(1_400_000), .proportional, &document) == .tooManyValues)
        #expect(code(Array("[1,2".utf8), .proportional, &document) == .unexpectedEnd)
        // The error is the same, although the fault is beyond the limit.
        #expect(code(Array(zeros(1_400_000).dropLast()), .proportional, &document) == .tooManyValues)
        #expect(code(Array(zeros(1_400_000).dropLast())) == .tooManyValues)
    }

    @Test("Keys and nested values count")
    func keys() {
        let large = String(repeating: #"{"abcdefghijkl":[]},"#, count: 600_000)
        #expect(code(Array("[\(large)0]".utf8)) == nil)
        let small = String(repeating: #"{"":{}},"#, count: 800_000)
        #expect(code(Array("[\(small)0]".utf8)) == .tooManyValues)
    }
}
