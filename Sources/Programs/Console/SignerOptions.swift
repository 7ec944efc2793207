import ArgumentParser
import Bundle

/// The options that select the accepted signers of bundles.
public struct SignerOptions: ParsableArguments {
    /// The path of the list of signers, or `nil` if the option is not given.
    @Option(
        help: ArgumentHelp(
            """
            Accept a bundle only if one of the signers in this file signed it. The file is a list for ssh-keygen with \
            lines such as ines@example.org ssh-ed25519 AAAA... (default: $\(Self.signersVariable))
            """, valueName: "file"), completion: .file())
    public var signers: String?

    /// The path of the list of revoked keys, or `nil` if the option is not given.
    @Option(
        help: ArgumentHelp(
            """
            Reject signatures made with the keys in this file: public keys, or a key revocation list. (default: \
            $\(Self.revokedVariable))
            """, valueName: "file"), completion: .file())
    public var revoked: String?

    /// The environment variable with the path of the list of signers, used if the option is not given.
    static let signersVariable = "PINGFERRY_SIGNERS"
    /// The environment variable with the path of the list of revoked keys, used if the option is not given.
    static let revokedVariable = "PINGFERRY_REVOKED"

    /// Creates options that require no signature.
    public init() {}

    /// Returns the paths of the lists from the options and the environment.
    public func paths(environment: [String: String]) -> [String] {
        [signers, environment[Self.signersVariable], revoked, environment[Self.revokedVariable]].compactMap(\.self)
    }

    /// Returns the accepted signers from the options or the environment, or `nil` if no signature is required.
    public func signers(environment: [String: String]) throws -> AllowedSigners? {
        func value(_ option: String?, _ name: String) throws -> String? {
            if let option { return option }
            // An empty variable is an error, so that a mistake in a script does not disable the check.
            guard let path = environment[name], path.isEmpty else { return environment[name] }
            throw CommandError(
                status: .badConfiguration, message: "\(name) is set but empty",
                remedy: "set it to the path of the list, or unset it to accept bundles without a check")
        }
        let revoked = try value(revoked, Self.revokedVariable)
        guard let allowed = try value(signers, Self.signersVariable) else {
            guard revoked == nil else {
                throw ValidationError("--revoked requires --signers, the list of accepted signers")
            }
            return nil
        }
        do throws(SignatureError) {
            return try AllowedSigners(allowed: allowed, revoked: revoked, environment: environment)
        } catch {
            throw CommandError(BundleError.signature(error))
        }
    }
}
