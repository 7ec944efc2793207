import Telemetry
import Testing

/// Containers, which are told apart by the bytes of their paths.
@Suite struct StoreContainerTests {
    @Test("folders whose names look alike are two containers")
    func spellings() {
        let composed = Container(path: "caf\u{E9}", identifier: "a.b")
        let decomposed = Container(path: "cafe\u{301}", identifier: "a.b")
        #expect(composed.path == decomposed.path)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, Container(path: "caf\u{E9}", identifier: "a.b")]).count == 2)
    }

    @Test("what else is known of a container tells it apart too")
    func owners() {
        let app = Container(path: "x", identifier: "a.b", kind: .app)
        #expect(app == Container(path: "x", identifier: "a.b"))
        #expect(app != Container(path: "x", identifier: "a.c"))
        #expect(app != Container(path: "x", identifier: "a.b", kind: .plugin))
        #expect(app != Container(path: "x", identifier: nil))
    }
}
