import Bytes
import Testing

@Suite struct BinarySearchTests {
    @Test(arguments: [0, 1, 7, 99, 100])
    func firstMatchIsFound(first: Int) {
        #expect((0..<100).partitioningIndex { $0 >= first } == first)
    }

    @Test func predicateIsCalledLogarithmicallyOften() {
        var calls = 0
        _ = (0..<1_000_000).partitioningIndex { number in
            calls += 1
            return number >= 314_159
        }
        #expect(calls <= 20)
    }

    @Test("an index in sorted elements is found in a logarithmic number of steps")
    func steps() {
        for count in [0, 1, 2, 3, 1000, 100_000] {
            for index in Set([0, count / 3, count - 1, count]) where index >= 0 {
                var steps = 0
                let found = (0..<count).partitioningIndex { number in
                    steps += 1
                    return number >= index
                }
                #expect(found == index)
                #expect(steps <= 18)
            }
        }
    }

    @Test(arguments: [("needle in hay", true), ("hay with a needle", true), ("needl", false), ("", false)])
    func textIsFoundInBytes(text: String, isFound: Bool) {
        #expect(Array(text.utf8).contains(text: "needle") == isFound)
    }
}
