import ArgumentParser
import Console
import Delivery
import Essentials
import Files
import Systems
import Telemetry

/// The options for sending uploads.
struct SendingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The server for a system's records, such as mozilla=http://127.0.0.1:8080, or for all systems without their own \
            --endpoint. (repeatable)
            """, valueName: "[system=]address"))
    var endpoint: [String] = []

    @Option(
        help: ArgumentHelp(
            "The number of clients served at the same time, and of connections to a server.", valueName: "n"))
    var connections = 8

    @Option(help: ArgumentHelp("The maximum time to establish a connection.", valueName: "seconds"))
    var connectTimeout = 10

    @Option(help: ArgumentHelp("The maximum time without data from a server.", valueName: "seconds"))
    var readTimeout = 30

    @Option(help: ArgumentHelp("The maximum time for a request and its complete answer.", valueName: "seconds"))
    var exchangeTimeout = 120

    @Option(help: ArgumentHelp("The maximum number of attempts for an upload in one job.", valueName: "n"))
    var attempts = 4

    @Option(help: ArgumentHelp("The maximum number of requests in a second, such as 5 or 0.5.", valueName: "n"))
    var requestsPerSecond: Double?

    @Option(
        help: ArgumentHelp(
            """
            Stop sending to a server after this number of equal refusals: a number, or unlimited. No more requests are under \
            way than could still be refused.
            """, valueName: "n"))
    var refusals = CountLimit(maximumCount: 25)

    @Option(
        help: ArgumentHelp(
            "The credentials file, which only you may be able to read. (default: $PINGFERRY_CREDENTIALS)",
            valueName: "file"),
        completion: .file())
    var credentials: String?

    @Option(
        help: ArgumentHelp(
            "A shell command that prints what would be in the credentials file.", valueName: "command"))
    var credentialsCommand: String?

    @Option(
        help: ArgumentHelp(
            "A PEM file with the trusted certificate authorities. (default: those of the system)", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Option(help: ArgumentHelp("A PEM file with the client certificate.", valueName: "file"), completion: .file())
    var clientCert: String?

    @Option(
        help: ArgumentHelp(
            "A PEM file with the key of the client certificate, which only you may be able to read. (default: --client-cert)",
            valueName: "file"),
        completion: .file())
    var clientKey: String?

    @Option(
        help: ArgumentHelp(
            """
            The proxy for all connections, or direct for none. (default: from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY)
            """, valueName: "http://host:port"))
    var proxy: String?

    @Flag(help: "Write a JSON line about each upload to standard error.")
    var logJSON = false

    @Option(
        help: ArgumentHelp(
            """
            Append messages to this file, each with its time, instead of standard error, which gets them if the disk is full. \
            --dry-run ignores this option.
            """, valueName: "file"),
        completion: .file())
    var logFile: String?

    @Option(
        help: ArgumentHelp(
            "Report the progress at this interval, such as 10m. SIGUSR1 reports it at once.", valueName: "age"))
    var progressInterval: Age?

    /// The value of the header `User-Agent`.
    static let agent = "Pingferry/\(ProgramVersion.number)"
    /// The environment variable in which systemd specifies the credentials folder of a service.
    ///
    /// The permissions of its files are not checked, because an access control list grants the service access.
    static let protectedFolderVariable = "CREDENTIALS_DIRECTORY"

    func validate() throws {
        let numbers = [
            ("connections", connections, 1000), ("connect-timeout", connectTimeout, 600),
            ("read-timeout", readTimeout, 3600), ("exchange-timeout", exchangeTimeout, 3600),
            ("attempts", attempts, 20),
        ]
        for (option, number, largest) in numbers where !(1...largest).contains(number) {
            throw ValidationError("--\(option) must be from 1 to \(largest)")
        }
        guard refusals.maximumCount != 0 else { throw ValidationError("--refusals must be at least 1, or unlimited") }
        if let pace = requestsPerSecond, !(pace >= 0.001 && pace <= 100_000) {
            throw ValidationError("--requests-per-second must be from 0.001 to 100000")
        }
        guard credentials == nil || credentialsCommand == nil else {
            throw ValidationError("--credentials and --credentials-command cannot be used together")
        }
        guard clientKey == nil || clientCert != nil else {
            throw ValidationError("--client-key requires --client-cert")
        }
        _ = try endpoints()
        _ = try proxyOption()
    }

    /// Throws a `CommandError` if the bundles and connections need more open files than the system allows.
    func requireFileDescriptors(bundles: Int) throws {
        let count = PingferryUpload.openFiles + bundles + connections * (try servers().count)
        guard !DescriptorLimit.allowsOpening(count) else { return }
        throw CommandError(
            status: .inputOutput,
            message: "cannot open \(count) files at once for these bundles and connections",
            remedy: "allow more open files (ulimit -n), or use fewer bundles or --connections")
    }

    /// Returns the paths of the files with credentials, certificates and keys.
    func paths(environment: [String: String]) -> [String] {
        [credentials, environment["PINGFERRY_CREDENTIALS"], caFile, clientCert, clientKey].compactMap(\.self)
    }

    /// Returns the credentials from the file and the environment.
    func credentials(environment: [String: String]) throws -> Credentials {
        if let credentialsCommand {
            let option = "--credentials-command"
            let bytes = try SecretCommand.output(of: credentialsCommand, option, environment: environment)
            let file = try CredentialFile(bytes, path: option, knowing: Systems.table)
            return try Credentials(file: file, environment: environment, of: Systems.table)
        }
        let path = credentials ?? environment["PINGFERRY_CREDENTIALS"].flatMap { $0.isEmpty ? nil : $0 }
        let protectedFolder = environment[Self.protectedFolderVariable]
        let file = try path.map {
            try CredentialFile(path: $0, knowing: Systems.table, protectedFolder: protectedFolder)
        }
        return try Credentials(file: file, environment: environment, of: Systems.table)
    }

    /// Returns the settings of a job with these options.
    func jobSettings(environment: [String: String]) throws -> JobSettings {
        var sender = SenderSettings(agent: Self.agent, endpoints: try endpoints(), systems: Systems.table)
        sender.connections = connections
        sender.connectTimeout = connectTimeout
        sender.readTimeout = readTimeout
        sender.exchangeTimeout = exchangeTimeout
        sender.identity.certificateAuthoritiesPath = caFile
        sender.identity.certificate = clientCert
        sender.identity.key = clientKey
        sender.proxies = try proxies(environment: environment)
        var settings = JobSettings(sender: sender, credentials: try credentials(environment: environment)) {
            SystemClock.now
        }
        settings.backoff.maximumAttempts = attempts
        settings.equalRefusalLimit = refusals.maximumCount
        settings.requestsPerSecond = requestsPerSecond
        if logJSON { settings.log = { StandardError.write(json: $0.jsonLine) } }
        return settings
    }

    /// Returns the rules that select a proxy, from the option or the environment.
    func proxies(environment: [String: String]) throws -> ProxyRules {
        try proxyOption() ?? ProxyRules(environment: environment)
    }

    /// Returns the servers that receive uploads, by type.
    func servers() throws -> ServerTable { ServerTable(given: try endpoints(), of: Systems.table) }

    private func endpoints() throws -> [SystemName: Endpoint] {
        var endpoints: [SystemName: Endpoint] = [:]
        // General addresses come first, so that an address for one system overrides them.
        for address in endpoint.filter({ !$0.contains("=") }).compactMap(Endpoint.init) {
            for system in Systems.table.names { endpoints[system] = address }
        }
        for text in endpoint where Endpoint(text) == nil {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let system = Systems.table.name(parts[0]) else {
                throw ValidationError(
                    """
                    --endpoint must be an address (http://host:port or https://host:port) or system=address, where the \
                    system is one of \(Systems.table.nameList), not \(text)
                    """
                )
            }
            guard let address = Endpoint(parts[1]) else {
                throw ValidationError(
                    "--endpoint must be http://host:port or https://host:port, without a path or user, not \(parts[1])")
            }
            endpoints[system] = address
        }
        return endpoints
    }

    private func proxyOption() throws -> ProxyRules? {
        guard let proxy else { return nil }
        if proxy == "direct" { return ProxyRules() }
        guard let given = Proxy(proxy), !given.hasCredential else {
            throw ValidationError(
                "--proxy must be http://host:port; use HTTPS_PROXY for a proxy that needs a password")
        }
        return ProxyRules(always: given)
    }
}

/// The parts of `--help` that describe the credentials of all systems.
enum CredentialHelp {
    private static var formats: [any CredentialFormat] { Systems.table.all.compactMap(\.uploads.credentials) }

    /// The names of the environment variables that provide credentials, separated by commas.
    static var variables: String { formats.map(\.variablesHelp).joined(separator: ", ") }

    /// An example of a credentials file, as an indented JSON object.
    static var file: String { "  {" + formats.map(\.entryHelp).joined(separator: ",\n   ") + "}" }
}
