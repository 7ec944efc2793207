import CCurl
import Testing

@testable import HTTP

/// What libcurl's codes mean.
@Suite struct HTTPErrorTests {
    @Test func aRequestThatWentOutMayHaveArrivedWhateverBecomesOfItsConnection() {
        for code in [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CONNECT_ERROR, CURLE_GOT_NOTHING] {
            #expect(HTTPError(code, FailureFacts(timesSent: 1)) == .closed)
        }
        for code in [CURLE_ABORTED_BY_CALLBACK, CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR] {
            #expect(HTTPError(code, FailureFacts(timesSent: 2)) == .closed)
        }
    }

    @Test func aProxyThatAnswersNoIsToldFromOneThatIsNotThere() {
        var facts = FailureFacts(code: 111, hasProxy: true)
        #expect(HTTPError(CURLE_COULDNT_CONNECT, facts) == .cannotConnect(111))
        #expect(HTTPError(CURLE_OPERATION_TIMEDOUT, facts) == .noConnectionInTime(isAtProxy: false))
        facts.isConnected = true
        #expect(HTTPError(CURLE_OPERATION_TIMEDOUT, facts) == .noConnectionInTime(isAtProxy: true))
        #expect(HTTPError(CURLE_GOT_NOTHING, facts) == .proxyRefused(0))
        facts.proxyStatus = 407
        #expect(HTTPError(CURLE_RECV_ERROR, facts) == .proxyRefused(407))
        #expect(HTTPError(CURLE_COULDNT_CONNECT, facts) == .proxyRefused(407))
    }

    @Test func aConnectionThatEndsInItsHandshakeIsNotOneThatIsRefused() {
        var facts = FailureFacts(words: "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to x:443")
        #expect(HTTPError(CURLE_SSL_CONNECT_ERROR, facts) == .closedInHandshake)
        facts.words = "error:1408F10B:SSL routines:ssl3_get_record:wrong version number"
        #expect(HTTPError(CURLE_SSL_CONNECT_ERROR, facts) == .noHandshake)
    }

    @Test func aCertificateOfAnotherHostIsToldFromOneThatIsNotTrusted() {
        #expect(HTTPError(CURLE_PEER_FAILED_VERIFICATION, FailureFacts(isChainGood: true)) == .wrongName)
        #expect(HTTPError(CURLE_PEER_FAILED_VERIFICATION, FailureFacts()) == .untrusted)
    }
}
