import Foundation
import TestSupport
import Testing

/// The offline program cannot talk to a network: neither it nor a library that it was linked with has the code.
@Suite struct OfflineProgramTests {
    /// What networking takes of the C library, what modules and libraries for networks define, and how libraries for them
    /// are named, as extended regular expressions.
    private static let patterns = [
        " U (socket|connect|bind|listen|accept4?|send(to|m?msg)?|recv(from|m?msg)?|getaddrinfo|gethostbyname(_r)?)(@|$)",
        " [A-Za-z] .*(7NIOCore|8NIOPosix|6NIOSSL|8NIOHTTP1|15AsyncHTTPClient|20FoundationNetworking|CNIOBoringSSL|curl_)",
        "NEEDED.*lib(curl|ssl|nghttp|FoundationNetworking|resolv|nss)",
    ]

    /// The lines about a program that show such a thing; by pattern, for the first lines say enough.
    private func networkCode(in program: String) throws -> [[Substring]] {
        let script = #"{ nm "$0"; readelf --dynamic "$0"; } | grep --max-count 30 --extended-regexp -- "$1" || true"#
        return try Self.patterns.map { pattern in
            try tool("sh", "-c", script, builtProgram(program), pattern).split(separator: "\n")
        }
    }

    @Test func theOfflineProgramHasNoNetworkCode() throws {
        #expect(try networkCode(in: "pingferry") == [[], [], []])
    }

    @Test func theTestWouldSeeIt() throws {
        let found = try networkCode(in: "pingferry-upload")
        #expect(!found[0].isEmpty)
        #expect(!found[1].isEmpty)
    }
}
