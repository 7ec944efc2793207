import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests that all codes of holds are explained.
@Suite struct HoldCodeTests {
    @Test("Each code in the sources has a unique entry with a meaning.")
    func codes() throws {
        let codes = Systems.table.holdCodes
        let known = codes.map(\.code)
        #expect(known == known.sorted())
        #expect(Set(known).count == known.count)
        #expect(codes.allSatisfy { !$0.meaning.isEmpty && !$0.meaning.hasSuffix(".") })
        // A line of help contains a code of at most 18 characters and its meaning.
        #expect(codes.allSatisfy { $0.code.count <= 18 && $0.meaning.count <= 80 - 22 })
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
