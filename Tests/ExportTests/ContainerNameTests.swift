import Testing

@testable import Export

/// Tests of the names of app containers.
@Suite struct ContainerNameTests {
    @Test(
        "The last Documents or Library folder of a path belongs to the container",
        arguments: [
            ("Library/x", "c"), ("Documents/MozTelemetry-Default-core/-t-1.json", "c"), ("p/1/Documents/a/b", "c/p/1"),
            ("o.zip!Library/x", "c/o.zip"), ("o.zip!q/Library/a/Documents/f", "c/o.zip!q/Library/a"),
            ("log.har", "c"), ("", "c"), ("a/b/c.json", "c"), ("o.zip!log.har", "c/o.zip"),
            ("a/o.zip!b/i.zip!Documents/x", "c/a/o.zip!b/i.zip"), ("Library/o.zip!x", "c/Library/o.zip"),
            ("p/Documents", "c"), ("p/Library/Documents", "c/p"), ("p/Documents2/Library2/x", "c"),
            ("p/documents/x", "c"), ("/Documents/x", "c"), ("o.zip!/Library/x", "c/o.zip"), ("p//Library/x", "c/p"),
            ("Ü/書/Library/Caches/x", "c/Ü/書"), ("!Library/x", "c"),
        ])
    func names(path: String, expected: String) {
        #expect(ContainerName.of(path: path, capture: "c") == expected)
    }
}
