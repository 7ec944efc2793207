import Mozilla
import Telemetry
import TestSupport
import Testing

/// Tests the detection of contradictions in records.
@Suite struct RecordContradictionTests {
    private static let payloadHash = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

    private func record(id: String = "x", target: Target?, held: [Hold]) -> Record {
        Record(
            system: .mozilla, type: "core", id: id, target: target, payload: Array("{}".utf8),
            source: Source(capture: "c", path: "p", store: .mozillaPingFile, index: 0), held: held)
    }

    private let known = Target(path: "/submit/telemetry/a/b/c/d/e/f?v=4")

    @Test("A record with a target of its system has no contradiction.")
    func consistent() {
        #expect(record(target: known, held: []).contradiction == nil)
        #expect(record(target: known, held: [.tooFewEvents]).contradiction == nil)
        #expect(record(target: nil, held: [.noTarget]).contradiction == nil)
    }

    @Test("An uploadable record needs a target.")
    func noTarget() {
        #expect(record(target: nil, held: []).contradiction == "uploadable without a target")
    }

    @Test("A target outside the grammar is a contradiction even in a held record.")
    func foreignTarget() {
        let foreign = Target(path: "//telemetry.example/submit")
        #expect(record(target: foreign, held: []).contradiction != nil)
        #expect(record(target: foreign, held: [.noTarget]).contradiction != nil)
        #expect(record(target: Target(path: known.path, method: "GET"), held: []).contradiction != nil)
    }

    @Test("An id that is a hash must be the hash of the payload.")
    func hash() {
        #expect(record(id: "sha256:\(Self.payloadHash)", target: known, held: []).contradiction == nil)
        #expect(record(id: "sha256:\(Self.payloadHash)#2", target: known, held: []).contradiction == nil)
        #expect(record(id: "sha256:00", target: known, held: []).contradiction != nil)
        #expect(record(id: "sha256:", target: known, held: []).contradiction != nil)
    }
}
