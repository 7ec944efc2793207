import Mozilla
import Telemetry
import TestSupport
import Testing

/// Records that say two things at once.
@Suite struct RecordContradictionTests {
    private static let payloadHash = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

    private func record(id: String = "x", target: Target?, held: [Hold]) -> Record {
        Record(
            system: .mozilla, type: "core", id: id, target: target, payload: Array("{}".utf8),
            source: Source(capture: "c", path: "p", store: .mozillaPingFile, index: 0), held: held)
    }

    private let known = Target(path: "/submit/telemetry/a/b/c/d/e/f?v=4")

    @Test("a record with a target of its system has none")
    func consistent() {
        #expect(record(target: known, held: []).contradiction == nil)
        #expect(record(target: known, held: [.tooFewEvents]).contradiction == nil)
        #expect(record(target: nil, held: [.noTarget]).contradiction == nil)
    }

    @Test("an uploadable record needs a target")
    func noTarget() {
        #expect(record(target: nil, held: []).contradiction == "uploadable without a target")
    }

    @Test("a target outside the grammar is one even on a held record")
    func foreignTarget() {
        let foreign = Target(path: "//telemetry.example/submit")
        #expect(record(target: foreign, held: []).contradiction != nil)
        #expect(record(target: foreign, held: [.noTarget]).contradiction != nil)
        #expect(record(target: Target(path: known.path, method: "GET"), held: []).contradiction != nil)
    }

    @Test("an id that is a hash has to be that of the payload")
    func hash() {
        #expect(record(id: "sha256:\(Self.payloadHash)", target: known, held: []).contradiction == nil)
        #expect(record(id: "sha256:\(Self.payloadHash)#2", target: known, held: []).contradiction == nil)
        #expect(record(id: "sha256:00", target: known, held: []).contradiction != nil)
        #expect(record(id: "sha256:", target: known, held: []).contradiction != nil)
    }
}
