import TestSupport

/// Keys and signatures that `ssh-keygen` makes.
struct Keys {
    let folder: TemporaryFolder

    /// Makes a key; the line of its public half.
    @discardableResult
    func make(_ name: String, type: String = "ed25519") throws -> String {
        let size = type == "rsa" ? ["-b", "2048"] : []
        _ = try tool(["ssh-keygen", "-q", "-t", type, "-N", "", "-C", "", "-f", folder(name)] + size)
        return try publicKey(name)
    }

    func publicKey(_ name: String) throws -> String {
        try folder.text("\(name).pub").split(whereSeparator: \.isNewline).joined()
    }

    /// Writes a list of signers; its path.
    func list(_ lines: String...) throws -> String {
        try folder.put(lines.map { $0 + "\n" }.joined(), "signers")
    }

    /// Signs a file; the signature lies beside it.
    func sign(_ path: String, with key: String, namespace: String = "pingferry-bundle") throws {
        _ = try tool(["rm", "-f", "\(path).sig"])
        _ = try tool(["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", folder(key), path])
    }

    /// Signs the volumes of a bundle, all of them in their order.
    /// - Parameter joined: where they are put together for that.
    func sign(bundle joined: String, volumes bundle: String, with key: String) throws {
        _ = try tool("bash", "-c", #"cat "$1".0* > "$2""#, "bash", bundle, joined)
        try sign(joined, with: key)
        _ = try tool("mv", "\(joined).sig", "\(bundle).sig")
    }
}
