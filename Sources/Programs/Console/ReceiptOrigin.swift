import Bundle
import Files
import FoundationEssentials
import Glibc
import Telemetry

extension Receipt.Origin {
    /// Returns the origin of a receipt that this process makes now.
    public static func current() -> Receipt.Origin {
        let userID = getuid()
        // `getpwuid` is not used, because it may contact a service over a socket and a program that packs bundles opens
        // no sockets. Without the file, the receipt contains only the number of the user.
        let users = try? InputFile(path: "/etc/passwd").contents(limit: 16 << 20)
        let milliseconds = Int64((Date.now.timeIntervalSince1970 * 1000).rounded(.down))
        return Receipt.Origin(
            user: users.flatMap { PasswdFile(bytes: $0).name(of: userID) }, userID: Int(userID), host: host,
            toolVersion: ProgramVersion.number, time: Timestamp(clamping: milliseconds))
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
