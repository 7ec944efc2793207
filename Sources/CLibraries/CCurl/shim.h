#ifndef PINGFERRY_CCURL_SHIM_H
#define PINGFERRY_CCURL_SHIM_H

// The type checks of libcurl are macros, which Swift does not import.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// Swift does not import the variadic functions of libcurl. There is one function here for each type of argument.

typedef size_t ccurl_data_callback(char *bytes, size_t size, size_t count, void *context);
typedef int ccurl_prerequest_callback(void *context, char *peer, char *local, int peer_port, int local_port);
typedef CURLcode ccurl_tls_callback(CURL *easy, void *library, void *context);

/// The value that represents no socket. It is defined by a macro, which Swift does not import.
static const curl_socket_t ccurl_bad_socket = CURL_SOCKET_BAD;

/// The value that ignores .netrc files. It is an enumeration case before libcurl 8.14, and a macro since then.
static const long ccurl_netrc_ignored = CURL_NETRC_IGNORED;

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/// Selects Basic authentication for proxies. The constant is a macro with a cast, which Swift does not import.
static inline CURLcode ccurl_set_basic_proxy(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_PROXYAUTH, CURLAUTH_BASIC);
}

/// Sets a string option. libcurl copies the string.
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/// Sets a pointer option. The pointer must stay valid while the handle uses it.
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/// Sets a blob option. libcurl copies the bytes.
static inline CURLcode ccurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLcode ccurl_set_data(CURL *easy, CURLoption option, ccurl_data_callback *callback) {
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode ccurl_set_prerequest(CURL *easy, ccurl_prerequest_callback *callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_set_tls(CURL *easy, ccurl_tls_callback *callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

/// Creates a listening Unix socket with an abstract name, which is not in the file system. Returns the socket, or -1.
static inline int ccurl_listen(char name[static 108]) {
#ifdef __linux__
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    // Binding without a name makes the system choose one.
    if (bind(listener, (struct sockaddr *)&address, sizeof address.sun_family) != 0 || listen(listener, 1) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        close(listener);
        return -1;
    }
    // The first byte of an abstract name is NUL and is not copied. The bytes after the name are zero.
    memcpy(name, address.sun_path + 1, sizeof address.sun_path - 1);
    name[sizeof address.sun_path - 1] = 0;
    return listener;
#else
    (void)name;
    return -1;
#endif
}

/// Returns the number for `info`, or 0 if it is unknown.
static inline long ccurl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/// Returns the size for `info`, or 0 if it is unknown.
static inline curl_off_t ccurl_size(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/// Returns whether a socket has unread bytes, is closed or has an error.
static inline int ccurl_is_readable(curl_socket_t socket) {
    struct pollfd entry = {.fd = socket, .events = POLLIN};
    return poll(&entry, 1, 0) != 0;
}

/// Returns the function `SSL_pending` of the OpenSSL library that libcurl uses, or null if libcurl uses another
/// library.
static inline int (*ccurl_ssl_pending(void))(const void *) {
    return (int (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_pending");
}

/// Returns whether the connection of a handle is encrypted and has decrypted bytes that were not read.
static inline int ccurl_has_decrypted_bytes(CURL *easy) {
    struct curl_tlssessioninfo *session = 0;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session
        || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return 0;
    int (*pending)(const void *) = ccurl_ssl_pending();
    return pending && pending(session->internals) > 0;
}

/// Returns whether `ccurl_has_decrypted_bytes` works, which requires that libcurl uses OpenSSL.
static inline int ccurl_can_find_decrypted_bytes(void) {
    const char *name = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return name && strncmp(name, "OpenSSL/", 8) == 0 && ccurl_ssl_pending();
}

/// Returns the socket of the last connection of a handle if libcurl keeps it for reuse, or `CURL_SOCKET_BAD`.
static inline curl_socket_t ccurl_reusable_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}

/// Returns the string for `info`, which is empty if it is unknown.
static inline const char *ccurl_text(CURL *easy, CURLINFO info) {
    char *value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK && value ? value : "";
}

/// Returns the pointer that was set as CURLOPT_PRIVATE.
static inline void *ccurl_private(CURL *easy) {
    char *value = 0;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode ccurl_set_multi_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

#endif
