import Delivery
import JSONText
import Sift
import Systems
import Telemetry

/// Reads hostile bytes as what an operator or another job left: the first one tells what.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzUploadSettings(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
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

/// Every beacon key of a file that is accepted is found under its account, and can stand in a header.
private func readCredentials(_ bytes: [UInt8]) {
    let file: CredentialFile
    do throws(CredentialError) {
        file = try CredentialFile(bytes, path: "c", knowing: Systems.table)
    } catch {
        precondition(error.description.hasPrefix("c: "), "an error does not say where")
        return
    }
    guard let credentials = try? Credentials(file: file, environment: [:], of: Systems.table),
        let document = try? JSONDocument(bytes)
    else { preconditionFailure("a file was accepted that is none") }
    guard let accounts = document.value(of: "sift", in: document.root) else { return }
    for place in 0..<document.memberCount(of: accounts) {
        let member = document.member(at: place, of: accounts)
        let account = Account(system: .sift, name: document.string(of: member.key))
        guard let key = credentials.credential(for: account)?["beaconKey"] else {
            preconditionFailure("a key was lost")
        }
        precondition(key.utf8.allSatisfy { (0x21..<0x7F).contains($0) }, "a key that no header can hold")
        // Of names that are equal as texts, one may stand for the other.
        if key != document.string(of: member.value) {
            precondition(!account.name.utf8.allSatisfy { $0 < 0x80 }, "another account's key")
        }
    }
}

// MARK: Addresses

/// An address is what its parts say, and paths can follow it.
private func readEndpoint(_ text: String) {
    guard let endpoint = Endpoint(text) else { return }
    check(host: endpoint.host, port: endpoint.port)
    precondition(endpoint.description.utf8.allSatisfy { (0x21..<0x7F).contains($0) }, "an address with odd characters")
    precondition(!endpoint.description.hasSuffix("/"), "a path after it would begin with two slashes")
    precondition(!endpoint.description.contains { "@?#%".contains($0) }, "more than scheme, host and port")
    let scheme = endpoint.isEncrypted ? "https" : "http"
    guard let again = Endpoint("\(scheme)://\(bracketed(endpoint.host)):\(endpoint.port)") else {
        preconditionFailure("its own parts are no address")
    }
    precondition(again.isEncrypted == endpoint.isEncrypted, "another scheme")
    precondition((again.host, again.port) == (endpoint.host, endpoint.port), "another host or port")
}

private func readProxy(_ text: String) {
    guard let proxy = Proxy(text) else { return }
    check(proxy)
}

private func check(_ proxy: Proxy) {
    check(host: proxy.host, port: proxy.port)
    precondition(proxy.description == "\(proxy.host):\(proxy.port)", "it says more than host and port")
    guard let again = Proxy("\(bracketed(proxy.host)):\(proxy.port)") else {
        preconditionFailure("its own parts are no proxy")
    }
    precondition((again.host, again.port) == (proxy.host, proxy.port), "another host or port")
    precondition(!again.hasCredential, "a credential out of nothing")
}

private func check(host: String, port: Int) {
    precondition((1...65535).contains(port), "no port")
    precondition(!host.isEmpty && host.utf8.allSatisfy { (0x21..<0x7F).contains($0) }, "no host")
    precondition(!host.contains { "/@?#%[]".contains($0) }, "more than a host")
}

private func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

// MARK: Environment

private let endpoints = ["http://127.0.0.1:8080", "https://in.example.org", "https://[::1]:8443"].compactMap {
    Endpoint($0)
}

/// Reads lines as variables: what they name is a proxy or an error, and an exception is one for that host alone.
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
        preconditionFailure("an exception makes a proxy bad")
    }
    precondition(others.proxy(for: endpoints[1]) == nil, "an exception is passed over")
    _ = try? Credentials(file: nil, environment: environment, of: Systems.table)
}

// MARK: Notes

/// A note names a job completely or not at all.
private func readNote(_ bytes: [UInt8]) {
    guard let holder = LedgerHolder(note: bytes) else { return }
    var object = CanonicalObject()
    object.set("host", string: holder.host)
    object.set("pid", integer: holder.pid)
    object.set("started", string: holder.started)
    precondition(LedgerHolder(note: object.bytes) == holder, "a note changes on its way")
}
