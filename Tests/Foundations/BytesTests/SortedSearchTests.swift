import Bytes
import Testing

@Suite struct SortedSearchTests {
    @Test(arguments: [0, 1, 7, 99, 100])
    func theFirstThatHoldsIsFound(first: Int) {
        #expect((0..<100).firstSorted { $0 >= first } == first)
    }

    @Test func itIsAskedAsOftenAsTheRangeCanBeHalved() {
        var asked = 0
        _ = (0..<1_000_000).firstSorted { number in
            asked += 1
            return number >= 314_159
        }
        #expect(asked <= 20)
    }

    @Test("a place among sorted things is found in as many steps as they can be halved")
    func steps() {
        for count in [0, 1, 2, 3, 1000, 100_000] {
            for place in Set([0, count / 3, count - 1, count]) where place >= 0 {
                var steps = 0
                let found = (0..<count).firstSorted { number in
                    steps += 1
                    return number >= place
                }
                #expect(found == place)
                #expect(steps <= 18)
            }
        }
    }

    @Test(arguments: [("needle in hay", true), ("hay with a needle", true), ("needl", false), ("", false)])
    func textsAreFoundInBytes(hay: String, isThere: Bool) {
        #expect(Array(hay.utf8).contains(text: "needle") == isThere)
    }
}
