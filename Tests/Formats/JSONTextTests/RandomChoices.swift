import TestSupport

extension SeededGenerator {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element
    where Choices.Index == Int {
        choices[Int.random(in: choices.startIndex..<choices.endIndex, using: &self)]
    }
}
