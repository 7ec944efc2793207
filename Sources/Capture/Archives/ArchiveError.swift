import CArchive
import Files

/// Why an archive cannot be read, or not to its end.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Sendable {
        /// It is none of the formats that are read.
        case unknownFormat
        /// What libarchive says of damage.
        case damaged(String)
        /// A compressed stream does not match its checksum, so any member of the archive may be altered.
        case checksum(String)
        /// Names and all are encrypted.
        case encrypted
        /// There is more of something than the limits allow.
        case overLimit(String)
        /// Too few bytes unpack to too many, as in an attack.
        case overExpanded
        /// The input or the spool.
        case file(FileError)
        /// This libarchive cannot read something that it should.
        case unsupported(String)
        /// A format or a method that is known and cannot be read.
        case unsupportedFormat(String)
        /// A zstd frame needs more memory than its decoder uses.
        case largeWindow
        /// A compressed file has no contents.
        case empty
    }

    /// What is wrong.
    public let reason: Reason
    /// Where in the archive, in bytes; nil where that is not known.
    public let offset: Int?

    init(_ reason: Reason, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }

    /// Calls `body`, and rethrows its error as an `ArchiveError`.
    static func wrapping<Value>(_ body: () throws(FileError) -> Value) throws(ArchiveError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw ArchiveError(.file(error))
        }
    }

    /// Creates the error for a message of libarchive, which reports in words alone what it does not support.
    init(ofLibarchive words: String?, at offset: Int) {
        let words = words ?? "the archive does not continue as its format requires"
        let reason: Reason =
            if words.contains("too much memory") {
                .largeWindow
            } else if ["nsupported", "not supported", "codec ID"].contains(where: words.contains) {
                .unsupportedFormat(words)
            } else {
                .damaged(words)
            }
        self.init(reason, at: offset)
    }

    /// The error in words.
    public var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        return switch reason {
        case .unknownFormat: "no archive of a kind that is read"
        case .damaged(let words), .checksum(let words): "damaged\(place): \(words)"
        case .encrypted: "encrypted"
        case .overLimit(let words): "more than \(words)\(place)"
        case .overExpanded: "expands beyond all measure\(place)"
        case .file(let error): error.description
        case .unsupported(let words), .unsupportedFormat(let words): words
        case .largeWindow: "compressed with zstd and a window of more than 128 MiB"
        case .empty: "an empty file was compressed"
        }
    }

    /// What to do next.
    public var remedy: String? {
        switch reason {
        case .unknownFormat: "zip, tar (also .gz, .xz, .zst, .bz2, .lz4), 7z and cpio archives are read"
        case .damaged: "pack the capture again, or unpack what is left and give the folder"
        case .checksum: "get another copy of the archive, because files in this one may be altered"
        case .encrypted, .overLimit, .overExpanded, .unsupportedFormat: "unpack it yourself and give the folder"
        case .largeWindow: "decompress it with zstd -d --long=31 and give the result"
        case .file, .unsupported, .empty: nil
        }
    }
}
