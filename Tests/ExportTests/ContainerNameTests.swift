import Testing

@testable import Export

/// Tests of the names of app containers.
@Suite struct ContainerNameTests {
    @Test(
        "The innermost container of a path is found by the names of folders",
        arguments: [
            ("Library/x", "c"), ("Documents/MozTelemetry-Default-core/-t-1.json", "c"), ("p/1/Documents/a/b", "c/p/1"),
            ("o.zip!Library/x", "c/o.zip"), ("o.zip!q/Library/a/Documents/f", "c/o.zip!q/Library/a"),
            ("log.har", "c"), ("", "c"), ("a/b/c.json", "c"), ("o.zip!log.har", "c/o.zip"),
            ("a/o.zip!b/i.zip!Documents/x", "c/a/o.zip!b/i.zip"), ("Library/o.zip!x", "c/Library/o.zip"),
            ("p/Documents", "c"), ("p/Library/Documents", "c/p"), ("p/Documents2/Library2/x", "c"),
            ("p/documents/x", "c"), ("/Documents/x", "c"), ("o.zip!/Library/x", "c/o.zip"), ("p//Library/x", "c/p"),
            ("Ü/書/Library/Caches/x", "c/Ü/書"), ("!Library/x", "c"),
            ("AppDomainGroup-group.a/x/y", "c/AppDomainGroup-group.a"), ("p/AppDomain-a/x", "c/p/AppDomain-a"),
            ("AppDomain-a/q/Library/x", "c/AppDomain-a/q"), ("AppDomain-a", "c"),
            ("o.zip!AppDomain-a/x", "c/o.zip!AppDomain-a"),
            ("Containers/Shared/AppGroup/1/a/x", "c/Containers/Shared/AppGroup/1"),
            ("Application/1/x", "c/Application/1"),
            ("PluginKitPlugin/1/a/b/x", "c/PluginKitPlugin/1"), ("Application/1", "c"),
            ("Library/Application/1/x", "c/Library/Application/1"), ("Library/Application Support/1/x", "c"),
        ])
    func names(path: String, expected: String) {
        #expect(ContainerName.of(path: path, capture: "c") == expected)
    }
}
