import Foundation
import Telemetry
import TestSupport
import Testing

/// Every code that holds a record is explained.
@Suite struct HoldMeaningTests {
    @Test("each code in the sources has a sentence, and each sentence another code")
    func codes() throws {
        let known = HoldMeaning.all.map(\.code)
        #expect(known == known.sorted())
        #expect(Set(known).count == known.count)
        #expect(HoldMeaning.all.allSatisfy { !$0.text.isEmpty && !$0.text.hasSuffix(".") })
        // A line of help with a code of 15 letters in front.
        #expect(HoldMeaning.all.allSatisfy { $0.code.count <= 15 && $0.text.count <= 80 - 19 })
        var found: Set<String> = []
        let sources = "\(repository)/Sources"
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources) where path.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(sources)/\(path)", encoding: .utf8)
            found.formUnion(text.matches(of: #/\bHold\("([a-z-]+)"/#).map { String($0.1) })
        }
        #expect(found.count >= 12)
        #expect(found.subtracting(known) == [])
    }
}
