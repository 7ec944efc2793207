import Bundle
import Bytes

extension Statement {
    /// Returns the text of the statement.
    public func text() throws -> String {
        var bytes: [UInt8] = []
        try write { bytes.append(copying: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
