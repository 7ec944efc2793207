import CArchive
import Files

/// An error that prevents an archive from being read completely.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// The cause of an archive error.
    public enum Reason: Sendable {
        /// The bytes are in none of the supported formats.
        case unknownFormat
        /// The archive is damaged. The value describes the damage.
        case damaged(String)
        /// The checksum of a compressed stream is wrong, so that any member of the archive may be altered.
        case checksum(String)
        /// The archive is encrypted, including the names of its members.
        case encrypted
        /// The archive exceeds a limit, which the value describes.
        case overLimit(String)
        /// A few bytes expand to an excessive size, as in a decompression bomb.
        case overExpanded
        /// The input, or the temporary file for archive members, cannot be read or written.
        case file(FileError)
        /// The installed libarchive lacks a required feature, or there is not enough memory.
        case unsupported(String)
        /// The format or the compression method is recognized, but not supported.
        case unsupportedFormat(String)
        /// A zstd frame needs a larger window than the decoder accepts.
        case largeWindow
        /// A compressed file has no contents.
        case empty
    }

    /// The cause of the error.
    public let reason: Reason
    /// The offset of the error in the archive, in bytes, or `nil` if it is unknown.
    public let offset: Int?

    init(_ reason: Reason, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }

    static func wrapping<Value>(_ body: () throws(FileError) -> Value) throws(ArchiveError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw ArchiveError(.file(error))
        }
    }

    /// Creates an error from an error message of libarchive.
    ///
    /// The message determines the reason, because libarchive has no error codes for unsupported features. If `message`
    /// is `nil`, the reason is damage.
    init(ofLibarchive message: String?, at offset: Int) {
        let words = message ?? "the archive does not continue as its format requires"
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

    /// A description of the error.
    public var description: String {
        let position = offset.map { " at byte \($0)" } ?? ""
        return switch reason {
        case .unknownFormat: "no archive of a kind that is read"
        case .damaged(let words), .checksum(let words): "damaged\(position): \(words)"
        case .encrypted: "encrypted"
        case .overLimit(let words): "more than \(words)\(position)"
        case .overExpanded: "expands beyond all measure\(position)"
        case .file(let error): error.description
        case .unsupported(let words), .unsupportedFormat(let words): words
        case .largeWindow: "compressed with zstd and a window of more than 128 MiB"
        case .empty: "an empty file was compressed"
        }
    }

    /// The suggested next step for the user, or `nil` if there is none.
    public var remedy: String? {
        switch reason {
        case .unknownFormat: "pass a zip, tar (also .gz, .xz, .zst, .bz2, .lz4), 7z or cpio archive"
        case .damaged: "pack the capture again, or unpack the readable part and pass the folder"
        case .checksum: "get another copy of the archive, because files in this one may be altered"
        case .encrypted, .overLimit, .overExpanded, .unsupportedFormat: "unpack the archive and pass the folder"
        case .largeWindow: "decompress the file with zstd -d --long=31 and pass the result"
        case .file, .unsupported, .empty: nil
        }
    }
}
