import CCurl
import Testing

@testable import HTTP

/// Tests for the interpretation of libcurl's error codes.
@Suite struct HTTPErrorTests {
    @Test func errorsAfterSendingMeanThatTheServerMayHaveTheRequest() {
        for code in [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CONNECT_ERROR, CURLE_GOT_NOTHING] {
            #expect(HTTPError(code, FailureDetails(sendCount: 1)) == .closed)
        }
        for code in [CURLE_ABORTED_BY_CALLBACK, CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR] {
            #expect(HTTPError(code, FailureDetails(sendCount: 2)) == .closed)
        }
    }

    @Test func rejectionByAProxyDiffersFromAnUnreachableProxy() {
        var details = FailureDetails(code: 111, hasProxy: true)
        #expect(HTTPError(CURLE_COULDNT_CONNECT, details) == .cannotConnect(111))
        #expect(HTTPError(CURLE_OPERATION_TIMEDOUT, details) == .connectionTimedOut(isAtProxy: false))
        details.isConnected = true
        #expect(HTTPError(CURLE_OPERATION_TIMEDOUT, details) == .connectionTimedOut(isAtProxy: true))
        #expect(HTTPError(CURLE_GOT_NOTHING, details) == .proxyRefused(0))
        details.proxyStatus = 407
        #expect(HTTPError(CURLE_RECV_ERROR, details) == .proxyRefused(407))
        #expect(HTTPError(CURLE_COULDNT_CONNECT, details) == .proxyRefused(407))
    }

    @Test func closingDuringTheHandshakeDiffersFromAFailedHandshake() {
        var details = FailureDetails(message: "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to x:443")
        #expect(HTTPError(CURLE_SSL_CONNECT_ERROR, details) == .closedInHandshake)
        details.message = "OpenSSL SSL_connect: error:0A00010B:SSL routines::wrong version number, errno 0"
        #expect(HTTPError(CURLE_SSL_CONNECT_ERROR, details) == .noHandshake("wrong version number"))
    }

    @Test func wrongHostDiffersFromAnUntrustedCertificate() {
        #expect(HTTPError(CURLE_PEER_FAILED_VERIFICATION, FailureDetails(isChainValid: true)) == .wrongName)
        let details = FailureDetails(message: "SSL certificate problem: certificate has expired")
        #expect(HTTPError(CURLE_PEER_FAILED_VERIFICATION, details) == .untrusted("certificate has expired"))
        let file = FailureDetails(message: "error setting certificate verify locations:  CAfile: a")
        #expect(HTTPError(CURLE_SSL_CACERT_BADFILE, file) == .noHandshake(file.message))
    }

    @Test(arguments: [
        ("tlsv13 alert certificate required", true), ("tlsv1 alert unknown ca", true),
        ("sslv3 alert certificate revoked", true), ("sslv3 alert bad certificate", true),
        ("tlsv1 alert internal error", false), ("unexpected eof while reading", false),
    ])
    func alertAboutTheClientCertificateMeansThatTheServerHasNoRequest(words: String, isRejected: Bool) {
        var details = FailureDetails(
            sendCount: 1, isNewConnection: true,
            message: "OpenSSL SSL_read: error:0A00045C:SSL routines::\(words), errno 0")
        #expect((HTTPError(CURLE_RECV_ERROR, details) == .clientCertificateRejected) == isRejected)
        details.isNewConnection = false
        #expect(HTTPError(CURLE_RECV_ERROR, details) == .cut)
    }
}
