/// The contents of `/etc/passwd`, the list of the users of a system.
///
/// Source: passwd(5).
struct PasswdFile {
    let bytes: [UInt8]

    /// Returns the name of the first user with the number `userID`, or `nil` if no named user has this number.
    func name(of userID: UInt32) -> String? {
        let number = Array(String(userID).utf8)[...]
        let colon = UInt8(ascii: ":")
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: colon, maxSplits: 3, omittingEmptySubsequences: false)
            guard fields.count == 4, fields[2] == number, let name = fields.first, !name.isEmpty else { continue }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }
}
