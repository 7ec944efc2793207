import Mozilla
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests the addresses of servers and proxies.
@Suite struct EndpointTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, false), ("https://example.org", "example.org", 443, true),
        ("https://example.org/", "example.org", 443, true), ("http://[::1]:81", "::1", 81, false),
        ("HTTP://Example.org", "Example.org", 80, false),
        ("https://onyx_tiles.stage.example", "onyx_tiles.stage.example", 443, true),
    ])
    func addressHasSchemeHostAndPort(text: String, host: String, port: Int, isEncrypted: Bool) throws {
        let endpoint = try #require(Endpoint(text))
        #expect((endpoint.host, endpoint.port) == (host, port))
        #expect(endpoint.isEncrypted == isEncrypted)
        #expect(!endpoint.description.hasSuffix("/"))
    }

    @Test(arguments: [
        "", "example.org", "ftp://example.org", "http://", "http://user:pass@example.org", "http://example.org/path",
        "http://example.org?x", "http://example.org#x", "http://example.org:0", "http://example.org:99999",
        "http://exa mple.org", "http://exa%0Ample.org", "http://exa%2Fmple.org", "http://bücher.example",
        "http://example.org:80\r\nX: y", "http://example.org/%EE", "http://example.org/path%EEel8/",
        "http://example.org?%FF", "http://example.org#%FF", "http://%FF@example.org", "http://%FF:%FF@example.org",
        "http://user:%FF@example.org",
    ])
    func invalidAddressIsRejected(text: String) { #expect(Endpoint(text) == nil) }

    @Test(arguments: Systems.table.names)
    func everySystemHasADocumentedAddress(system: SystemName) {
        let format = uploads(system)
        for address in [format.endpoint] + format.endpointsOfTypes.values {
            #expect(Endpoint(address)?.isEncrypted == true)
        }
    }

    @Test func typesCanHaveTheirOwnServers() throws {
        let systems = ProbeSystem.makeTable(
            endpoint: "https://a.example",
            endpointsOfTypes: ["other": "https://b.example", "third": "https://b.example"])
        func addresses(_ servers: ServerTable) -> [String?] {
            ["hello", "other", "third"].map { servers[TypeName(system: .probe, name: $0)]?.endpoint.address }
        }
        let documented = ServerTable(of: systems)
        #expect(addresses(documented) == ["https://a.example:443", "https://b.example:443", "https://b.example:443"])
        #expect(documented.count == 2)
        #expect(documented[TypeName(system: .mozilla, name: "other")] == nil)
        let given = ServerTable(given: [.probe: try #require(Endpoint("http://127.0.0.1:1"))], of: systems)
        #expect(addresses(given) == Array(repeating: "http://127.0.0.1:1", count: 3))
        #expect(given.count == 1)
    }

    @Test func systemsWithTheSameAddressHaveDifferentServers() throws {
        let address = try #require(Endpoint("http://127.0.0.1:1"))
        let given = Dictionary(uniqueKeysWithValues: Systems.table.names.map { ($0, address) })
        #expect(ServerTable(given: given, of: Systems.table).count == Systems.table.all.count)
    }

    private static let proxies: [(environment: String, endpoint: String, proxy: String?)] = [
        ("https_proxy=http://p:3128", "https://example.org", "p:3128"),
        ("HTTPS_PROXY=p:3128", "https://example.org", "p:3128"),
        ("https_proxy=http://a:1;HTTPS_PROXY=http://b:2", "https://example.org", "a:1"),
        ("http_proxy=http://p:3128", "https://example.org", nil),
        ("http_proxy=http://p", "http://example.org", "p:80"),
        ("ALL_PROXY=http://p:1", "http://example.org", "p:1"),
        ("all_proxy=http://p:1;https_proxy=http://q:2", "https://example.org", "q:2"),
        ("https_proxy=http://p:1;no_proxy=example.org", "https://example.org", nil),
        ("https_proxy=http://p:1;NO_PROXY=localhost, .example.org", "https://in.example.org", nil),
        ("https_proxy=http://p:1;no_proxy=*.example.org", "https://in.Example.ORG", nil),
        ("https_proxy=http://p:1;no_proxy=ample.org", "https://example.org", "p:1"),
        ("https_proxy=http://p:1;no_proxy=example.org:8443", "https://example.org", "p:1"),
        ("https_proxy=http://p:1;no_proxy=example.org:8443", "https://example.org:8443", nil),
        ("https_proxy=http://p:1;no_proxy=*", "https://example.org", nil),
        ("https_proxy=", "https://example.org", nil),
        ("", "https://example.org", nil),
    ]

    @Test(arguments: proxies)
    func environmentSelectsTheProxy(environment text: String, endpoint: String, proxy: String?) throws {
        let pairs = text.split(separator: ";").map {
            $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        let environment = Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), String($0[1])) })
        let rules = try ProxyRules(environment: environment)
        #expect(rules.proxy(for: try #require(Endpoint(endpoint)))?.description == proxy)
    }

    @Test(arguments: [
        "https://p:1", "socks5://p:1", "http://", "http://p:0", "http://p:99999", "http://p:1/path", "http://p%0A:1",
        "http://p:1/%EE", "http://p:1?%FF", "http://p:1#%FF", "http://%FF:x@p:1", "http://user:%FF@p:1",
    ])
    func unsupportedProxyIsRejected(value: String) {
        #expect(throws: ProxyError(variable: "HTTPS_PROXY")) { try ProxyRules(environment: ["HTTPS_PROXY": value]) }
    }
}
