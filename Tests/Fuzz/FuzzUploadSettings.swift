import Delivery
import JSONText
import Sift
import Systems
import Telemetry

/// Reads hostile bytes as credentials, addresses, variables or notes.
///
/// The first byte selects the kind.
func fuzzUploadSettings(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 5 {
    case 0: readCredentials(rest)
    case 1: readEndpoint(String(decoding: rest, as: UTF8.self))
    case 2: readProxy(String(decoding: rest, as: UTF8.self))
    case 3: readEnvironment(rest)
    default: readNote(rest)
    }
    return 0
}

// MARK: Credentials

/// Checks that each beacon key of an accepted file is found by its account and is valid in a header field.
private func readCredentials(_ bytes: [UInt8]) {
    let file: CredentialFile
    do throws(CredentialError) {
        file = try CredentialFile(bytes, path: "c", knowing: Systems.table)
    } catch {
        precondition(error.description.utf8.starts(with: "c: ".utf8), "the error does not name the file")
        return
    }
    guard let credentials = try? Credentials(file: file, environment: [:], of: Systems.table),
        let document = try? JSONDocument(bytes)
    else { preconditionFailure("the accepted file is malformed") }
    guard let accounts = document.value(of: "sift", in: document.root) else { return }
    for position in 0..<document.memberCount(of: accounts) {
        let member = document.member(at: position, of: accounts)
        let account = Account(system: .sift, name: document.string(of: member.key))
        guard let key = credentials.credential(for: account)?["beaconKey"] else {
            preconditionFailure("the key is lost")
        }
        precondition(key.utf8.allSatisfy { (0x21..<0x7F).contains($0) }, "the key is not valid in a header field")
        // Account names that are equal as strings can replace each other.
        if key != document.string(of: member.value) {
            precondition(!account.name.utf8.allSatisfy { $0 < 0x80 }, "the key belongs to another account")
        }
    }
}

// MARK: Addresses

/// Checks that an address consists of its components and that paths can be appended to it.
private func readEndpoint(_ text: String) {
    guard let endpoint = Endpoint(text) else { return }
    check(host: endpoint.host, port: endpoint.port)
    precondition(
        endpoint.description.utf8.allSatisfy { (0x21..<0x7F).contains($0) }, "the address has invalid characters")
    precondition(!endpoint.description.hasSuffix("/"), "an appended path would begin with two slashes")
    precondition(!endpoint.description.contains { "@?#%".contains($0) }, "the address has additional components")
    let scheme = endpoint.isEncrypted ? "https" : "http"
    guard let again = Endpoint("\(scheme)://\(bracketed(endpoint.host)):\(endpoint.port)") else {
        preconditionFailure("the components do not form an address")
    }
    precondition(again.isEncrypted == endpoint.isEncrypted, "the scheme differs")
    precondition((again.host, again.port) == (endpoint.host, endpoint.port), "the host or port differs")
}

private func readProxy(_ text: String) {
    guard let proxy = Proxy(text) else { return }
    check(proxy)
}

private func check(_ proxy: Proxy) {
    check(host: proxy.host, port: proxy.port)
    precondition(proxy.description == "\(proxy.host):\(proxy.port)", "the description has additional components")
    guard let again = Proxy("\(bracketed(proxy.host)):\(proxy.port)") else {
        preconditionFailure("the components do not form a proxy")
    }
    precondition((again.host, again.port) == (proxy.host, proxy.port), "the host or port differs")
    precondition(!again.hasCredential, "the proxy has an unexpected credential")
}

private func check(host: String, port: Int) {
    precondition((1...65535).contains(port), "the port is out of range")
    precondition(!host.isEmpty && host.utf8.allSatisfy { (0x21..<0x7F).contains($0) }, "the host is malformed")
    precondition(!host.contains { "/@?#%[]".contains($0) }, "the host has additional components")
}

private func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

// MARK: Environment

private let endpoints = ["http://127.0.0.1:8080", "https://in.example.org", "https://[::1]:8443"].compactMap {
    Endpoint($0)
}

/// Reads lines as environment variables, and checks that an exception applies to its host.
private func readEnvironment(_ bytes: [UInt8]) {
    var environment: [String: String] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        environment[texts[0]] = texts.count == 2 ? texts[1] : ""
    }
    guard let rules = try? ProxyRules(environment: environment) else { return }
    for endpoint in endpoints {
        if let proxy = rules.proxy(for: endpoint) { check(proxy) }
    }
    environment["no_proxy"] = endpoints[1].host
    guard let others = try? ProxyRules(environment: environment) else {
        preconditionFailure("the exception makes the proxy malformed")
    }
    precondition(others.proxy(for: endpoints[1]) == nil, "the exception is ignored")
    _ = try? Credentials(file: nil, environment: environment, of: Systems.table)
}

// MARK: Notes

/// Checks that an accepted note identifies a job completely.
private func readNote(_ bytes: [UInt8]) {
    guard let holder = LedgerHolder(note: bytes) else { return }
    let object: CanonicalObject = ["host": holder.host, "pid": holder.pid, "started": holder.started]
    precondition(LedgerHolder(note: object.bytes) == holder, "the note changes when it is written and read")
}
