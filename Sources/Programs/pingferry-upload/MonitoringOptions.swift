import ArgumentParser
import Console
import Delivery
import FoundationEssentials

/// The options that select the monitoring service.
struct MonitoringOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Request this address with /start before and with / and the exit status after the job. Other users can read it in \
            the list of processes, so prefer --ping-url-file. (default: $\(Self.variable))
            """, valueName: "url"))
    var pingURL: String?

    @Option(
        help: ArgumentHelp(
            "A file with the address for --ping-url, which only you may be able to read.", valueName: "file"),
        completion: .file())
    var pingURLFile: String?

    /// The environment variable with the address, used if no option is given.
    static let variable = "PINGFERRY_PING_URL"

    /// Whether one of the options is given.
    var isGiven: Bool { pingURL != nil || pingURLFile != nil }

    func validate() throws {
        guard pingURL == nil || pingURLFile == nil else {
            throw ValidationError("--ping-url cannot be used with --ping-url-file")
        }
        _ = try addressOption()
    }

    /// Returns the service from the options or the environment, or `nil` if no service is configured.
    func service(environment: [String: String], sending: SendingOptions) throws -> MonitoringService? {
        guard let address = try address(environment: environment) else { return nil }
        return MonitoringService(
            at: address, agent: SendingOptions.agent, proxies: try sending.proxies(environment: environment),
            authoritiesPath: sending.caFile)
    }

    private func address(environment: [String: String]) throws -> MonitoringAddress? {
        if let address = try addressOption() { return address }
        if let pingURLFile {
            return try MonitoringAddress(
                file: pingURLFile, protectedFolder: environment[SendingOptions.protectedFolderVariable])
        }
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        guard let address = MonitoringAddress(text) else {
            throw CommandError(
                status: .badConfiguration, message: "\(Self.variable) must be \(MonitoringAddress.form)")
        }
        return address
    }

    /// Returns the address that `--ping-url` specifies, or `nil` if the option is not given.
    ///
    /// The argument parser does not parse the address, because its error message would contain the address.
    private func addressOption() throws -> MonitoringAddress? {
        guard let pingURL else { return nil }
        guard let address = MonitoringAddress(pingURL) else {
            throw ValidationError("--ping-url must be \(MonitoringAddress.form)")
        }
        return address
    }
}
