import ArgumentParser
import Bundle

/// Who has to have signed bundles.
public struct SignerOptions: ParsableArguments {
    /// The list of signers.
    @Option(
        help: ArgumentHelp(
            """
            Take a bundle only if one of these signed it: a list as ssh-keygen reads it, lines such as \
            ines@example.org ssh-ed25519 AAAA... (default: $\(Self.variable))
            """, valueName: "file"), completion: .file())
    public var signers: String?

    /// The list of keys that are not taken any more.
    @Option(
        help: ArgumentHelp(
            "Take no signature of the keys in this file: public keys, or a key revocation list. (default: $\(Self.revokedVariable))",
            valueName: "file"), completion: .file())
    public var revoked: String?

    /// The variable of the environment that names the list where the option does not.
    public static let variable = "PINGFERRY_SIGNERS"
    /// The variable that names the list of keys that are not taken any more.
    public static let revokedVariable = "PINGFERRY_REVOKED"

    /// Nobody is asked for.
    public init() {}

    /// Those who have to have signed; nil where nobody is asked for.
    /// - Throws: ``CommandError``.
    public func signers(environment: [String: String]) throws -> Signers? {
        func value(_ option: String?, _ name: String) throws -> String? {
            if let option { return option }
            // A script that sets it from an empty variable would otherwise turn the check off.
            guard let path = environment[name], path.isEmpty else { return environment[name] }
            throw CommandError(
                status: .badConfiguration, message: "\(name) is set and empty",
                remedy: "give it the path of the list, or unset it to take bundles of anybody")
        }
        let revoked = try value(revoked, Self.revokedVariable)
        guard let allowed = try value(signers, Self.variable) else {
            guard revoked == nil else {
                throw ValidationError("--revoked says whose signature is not taken; --signers, whose is")
            }
            return nil
        }
        do throws(SignatureError) {
            return try Signers(allowed: allowed, revoked: revoked, environment: environment)
        } catch {
            throw CommandError(BundleError.signature(error))
        }
    }
}
