import Telemetry
import Testing

/// Tests the comparison of containers, which uses the bytes of their paths.
@Suite struct StoreContainerTests {
    @Test("Folders whose names differ only in Unicode normalization are different containers.")
    func spellings() {
        let composed = Container(path: "caf\u{E9}", identifier: "a.b")
        let decomposed = Container(path: "cafe\u{301}", identifier: "a.b")
        #expect(composed.path == decomposed.path)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, Container(path: "caf\u{E9}", identifier: "a.b")]).count == 2)
    }

    @Test("Containers with different owners are different.")
    func owners() {
        let app = Container(path: "x", identifier: "a.b", kind: .app)
        #expect(app == Container(path: "x", identifier: "a.b"))
        #expect(app != Container(path: "x", identifier: "a.c"))
        #expect(app != Container(path: "x", identifier: "a.b", kind: .plugin))
        #expect(app != Container(path: "x", identifier: nil))
    }
}
