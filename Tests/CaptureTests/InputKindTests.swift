import Capture
import Testing

/// Tests of the detection of input formats by their first bytes.
@Suite struct InputKindTests {
    @Test("The format of an input is detected from its first bytes")
    func kinds() {
        let tar = [UInt8](repeating: 0, count: 257) + Array("ustar".utf8)
        for head in [Array("PK\u{3}\u{4}".utf8), [0x1F, 0x8B], Array("070701".utf8), tar] {
            guard case .archive = InputKind(head: head) else { Issue.record("no archive: \(head.prefix(4))"); continue }
        }
        for head in [[], Array("{}".utf8), Array("bplist00".utf8), Array("SQLite format 3".utf8)] {
            guard case .other = InputKind(head: head) else { Issue.record("known: \(head.prefix(4))"); continue }
        }
        if case .damagedZstd = InputKind(head: [0x28, 0xB5, 0x2F, 0xFD, 0]) { return }
        Issue.record("damage was not noticed")
    }
}
