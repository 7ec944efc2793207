import CCurl
import CNettle
import CSQLite
import CZlib
import CZstd

/// The versions of the loaded C libraries, keyed by name.
enum LibraryVersions {
    static var all: [String: String] {
        [
            // The description also contains the library for TLS.
            "libcurl": String(cString: curl_version()), "libzstd": String(cString: ZSTD_versionString()),
            "nettle": "\(nettle_version_major()).\(nettle_version_minor())",
            "sqlite": String(cString: sqlite3_libversion()), "zlib": String(cString: zlibVersion()),
        ]
    }
}
