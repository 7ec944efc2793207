import TestSupport

/// A folder for keys and signatures made with `ssh-keygen`.
struct Keys {
    let folder: TemporaryFolder

    /// Makes a key pair and returns the line of the public key.
    @discardableResult
    func make(_ name: String, type: String = "ed25519") throws -> String {
        let size = type == "rsa" ? ["-b", "2048"] : []
        _ = try tool(["ssh-keygen", "-q", "-t", type, "-N", "", "-C", "", "-f", folder(name)] + size)
        return try publicKey(name)
    }

    func publicKey(_ name: String) throws -> String {
        try folder.text("\(name).pub").split(whereSeparator: \.isNewline).joined()
    }

    /// Writes a list of signers and returns its path.
    func list(_ lines: String...) throws -> String {
        try folder.put(lines.map { $0 + "\n" }.joined(), "signers")
    }

    /// Signs a file.
    ///
    /// The signature is stored beside it.
    func sign(_ path: String, with key: String, namespace: String = "pingferry-bundle") throws {
        _ = try tool(["rm", "-f", "\(path).sig"])
        _ = try tool(["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", folder(key), path])
    }

    /// Joins the volumes of `bundle` in the file `joined`, and signs them.
    func sign(bundle joined: String, volumes bundle: String, with key: String) throws {
        _ = try tool("bash", "-c", #"cat "$1".0* > "$2""#, "bash", bundle, joined)
        try sign(joined, with: key)
        _ = try tool("mv", "\(joined).sig", "\(bundle).sig")
    }
}
