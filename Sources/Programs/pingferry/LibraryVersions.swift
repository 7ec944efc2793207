import CArchive
import CNettle
import CSQLite
import CZlib
import CZstd

/// The versions of the loaded C libraries, keyed by name.
enum LibraryVersions {
    static var all: [String: String] {
        [
            "libarchive": archiveVersion, "libzstd": String(cString: ZSTD_versionString()),
            "nettle": "\(nettle_version_major()).\(nettle_version_minor())",
            "sqlite": String(cString: sqlite3_libversion()), "zlib": String(cString: zlibVersion()),
        ]
    }

    private static var archiveVersion: String {
        let number = archive_version_number()
        return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }
}
