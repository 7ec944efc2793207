import Foundation
import JSONText
import Telemetry

/// What one upload says to its server, without the server's address: method, path, headers, body.
public struct UploadRequest: Sendable, Equatable {
    /// A header field.
    public struct Header: Sendable, Equatable {
        /// The field's name.
        public let name: String
        /// Its value.
        public let value: String
    }

    /// The HTTP method.
    public let method: String
    /// Path and query, percent-encoded.
    public let path: String
    /// The header fields besides those that HTTP itself needs.
    public let headers: [Header]
    /// The body, in its content encoding.
    public let body: [UInt8]
    /// What of the request nobody may see: a server may repeat it.
    let secrets: SecretMask

    /// Makes the request that the format document of a system describes.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 8.1; "Sift iOS SDK", section
    /// 8.1; "Leanplum (Mozilla MMA)", section C.3; "Activity Stream New Tab pings", section 3.
    /// - Parameters:
    ///   - payload: canonical bytes.
    ///   - credential: the credential of the account that the target and the app name.
    ///   - now: the instant of sending, which Leanplum's form states.
    ///   - agent: what the header `User-Agent` says.
    /// - Throws: ``RequestError``.
    public init(
        _ system: TelemetrySystem, target: Target?, payload: [UInt8], credential: Credential, now: Timestamp,
        agent: String
    ) throws(RequestError) {
        guard let target, target.isKnown(to: system) else { throw .noTarget }
        path = PercentEncoding.path(target.path)
        var headers = [Header(name: "User-Agent", value: agent)]
        var secrets = SecretMask.none
        switch (system, credential) {
        case (.mozilla, _):
            method = target.method ?? "POST"
            headers.append(Header(name: "Content-Type", value: "application/json; charset=utf-8"))
            body = payload
        case (.activityStream, _):
            method = target.method ?? "POST"
            headers.append(Header(name: "Content-Type", value: "application/json"))
            body = payload
        case (.sift, .sift(let beaconKey)):
            method = target.method ?? "PUT"
            // The beacon key alone, with no user name and no colon before it.
            let token = Data(beaconKey.utf8).base64EncodedString()
            secrets = SecretMask([beaconKey, token])
            headers.append(Header(name: "Authorization", value: "Basic \(token)"))
            headers.append(Header(name: "Content-Type", value: "application/json"))
            headers.append(Header(name: "Content-Encoding", value: "gzip"))
            do { body = try Gzip.compressed(payload) } catch { throw .gzip(error) }
        case (.leanplum, .leanplum(let appID, let key)):
            method = target.method ?? "POST"
            headers.append(Header(name: "Content-Type", value: "application/x-www-form-urlencoded"))
            secrets = SecretMask([key])
            body = try LeanplumForm(payload: payload, appID: appID, key: key, now: now).body
        case (.sift, _), (.leanplum, _):
            throw .otherCredential
        }
        self.headers = headers
        self.secrets = secrets
    }
}

/// Why no request can be made of a record.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The record does not say where it would go, or names no place in the grammar of its system.
    case noTarget
    /// There is no credential for the account; what to set.
    case noCredential(String)
    /// The credential is that of another system.
    case otherCredential
    /// The payload is not what its system's records hold.
    case payload
    /// The body could not be compressed.
    case gzip(GzipError)

    /// One line.
    public var description: String {
        switch self {
        case .noTarget: "the record names no place that its system knows"
        case .noCredential(let name): "a credential is missing: set \(name)"
        case .otherCredential: "the credential is that of another system"
        case .payload: "the payload is no list of requests"
        case .gzip(let error): "\(error)"
        }
    }
}
