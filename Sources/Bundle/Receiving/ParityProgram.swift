import Bytes
import Files

/// The program `par2`, which makes repair blocks for the files of a bundle, and repairs them.
public struct ParityProgram: Sendable {
    private let program: InstalledProgram
    private let environment: [String: String]

    /// Finds the program in the search path of `environment`.
    public init(environment: [String: String]) throws(ParityError) {
        do throws(ProgramError) {
            program = try InstalledProgram("par2", searching: environment["PATH"] ?? "")
        } catch {
            throw ParityError(error.description, isMissingProgram: true)
        }
        self.environment = ["LC_ALL": "C"]
    }

    /// The numbers of blocks of the files of a bundle.
    public struct State: Sendable, Equatable {
        /// Whether nothing has to be repaired.
        public let isIntact: Bool
        /// The number of damaged or missing blocks, which is 0 if bytes were only inserted between blocks.
        public let damagedCount: Int
        /// The number of all blocks.
        public let blockCount: Int
        /// The number of usable repair blocks.
        public let repairCount: Int

        /// Whether there are enough repair blocks for the damaged ones.
        public var isRepairable: Bool { damagedCount <= repairCount }

        /// A description such as `repairable: 3 of 2000 blocks damaged`.
        public var description: String {
            let damage = "\(damagedCount) of \(blockCount) blocks damaged"
            return isRepairable
                ? "repairable: \(damage)" : "not repairable: \(damage), but only \(repairCount) repair blocks"
        }
    }

    /// Returns the path of the first file of repair blocks for the bundle at `path`.
    public static func path(ofBundleAt path: String) -> String { path + ".par2" }

    /// Returns the names of the files of repair blocks for the bundle at `path` that exist beside it.
    public static func existingNames(forBundleAt path: String) throws(FileError) -> [String] {
        let name = Path.name(of: path)
        return try Folder(path: Path.folder(of: path)).fileNames().filter {
            $0.hasSuffix(".par2") && CapturedText($0).utf8.starts(with: "\(name).".utf8)
        }
    }

    /// Makes repair blocks with `percent` of the size of `files`, all of which are in the folder of the bundle at `path`.
    ///
    /// They get their names when they are complete. Existing ones are removed then if `replaces` is `true`.
    ///
    /// - Throws: `FileError`, or ``ParityError`` with what `par2` reported.
    public func create(percent: Int, forBundleAt path: String, of files: [String], replacing replaces: Bool) throws {
        let name = Path.name(of: Self.path(ofBundleAt: path))
        let folder = try RealPath.resolved(Path.folder(of: path))
        let staged = try StagedFolder(path: folder, for: name)
        try staged.discard(staged.stagedNames())
        do {
            try run(
                ["create", "-q", "-q", "-r\(percent)", "-n1", "-B\(folder)", "--", staged.stagedPath(of: name)]
                    + files.map { "\(folder)/\(Path.name(of: $0))" })
            let names = try staged.stagedNames()
            for name in names { try staged.open(name).sync() }
            if replaces { try staged.remove(Self.existingNames(forBundleAt: path)) }
            try staged.publish(names.filter { $0 != name } + [name])
        } catch {
            try staged.discard(staged.stagedNames())
            throw error
        }
    }

    /// Returns the state of the files for which the repair blocks in the file at `path` were made.
    ///
    /// - Throws: ``ParityError`` if the repair blocks cannot be read, or name files in other folders.
    public func state(of path: String) throws -> State {
        let path = try RealPath.resolved(path)
        try requireOwnNames(besides: path)
        let result = try program.run(["verify", "-B\(Path.folder(of: path))", "--", path], environment: environment)
        let lines = ProgramResult.lines(of: result.outputEnd)
        if result.status == 0 {
            return State(isIntact: true, damagedCount: 0, blockCount: 0, repairCount: 0)
        }
        // 1 means that a repair is possible, and 2 that it is not.
        guard [1, 2].contains(result.status),
            let blocks = lines.lazy.compactMap({ Self.numbers(in: $0, "You have # out of # data blocks available.") })
                .first,
            let repair = lines.lazy.compactMap({ Self.numbers(in: $0, "You have # recovery blocks available.") }).first
        else { throw ParityError(result) }
        return State(
            isIntact: false, damagedCount: max(0, blocks[1] - blocks[0]), blockCount: blocks[1], repairCount: repair[0])
    }

    /// Returns the numbers in `line` at the places of `#` in `pattern`, or `nil` if the rest of the line differs.
    private static func numbers(in line: String, _ pattern: String) -> [Int]? {
        let (words, expected) = (line.split(separator: " "), pattern.split(separator: " "))
        guard words.count == expected.count else { return nil }
        var numbers: [Int] = []
        for (word, expected) in zip(words, expected) {
            if expected == "#" {
                guard let number = Int(word) else { return nil }
                numbers.append(number)
            } else if word != expected {
                return nil
            }
        }
        return numbers
    }

    /// Throws an error unless the files with repair blocks in the folder of `path` name only files in this folder.
    ///
    /// They are not trusted: `par2` reads and writes every path that they name, and could wait for a pipe.
    private func requireOwnNames(besides path: String) throws {
        let folder = Path.folder(of: path)
        for file in try Folder(path: folder).fileNames() where file.hasSuffix(".par2") {
            let names = try ParityNames(of: ByteSource(InputFile(path: Path.entry(file, of: folder))))
            if let name = names.foreignName { throw ParityError("\(file) names the file \(name)") }
        }
    }

    /// Repairs the files in the folder of `path`, a file of repair blocks.
    ///
    /// - Throws: ``ParityError`` if a file of repair blocks names a file in another folder, or if a repair is not possible.
    func repair(with path: String) throws {
        try requireOwnNames(besides: path)
        try run(["repair", "-q", "-q", "-B\(Path.folder(of: path))", "--", path])
    }

    private func run(_ arguments: [String]) throws {
        let result = try program.run(arguments, environment: environment)
        guard result.status == 0 else { throw ParityError(result) }
    }
}

/// A failure of `par2`.
public struct ParityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A description in one line without a full stop.
    public let description: String
    /// Whether `par2` is not installed.
    public let isMissingProgram: Bool

    init(_ description: String, isMissingProgram: Bool = false) {
        self.description = description
        self.isMissingProgram = isMissingProgram
    }

    init(_ result: ProgramResult) {
        let lines = ProgramResult.lines(of: result.errors) + ProgramResult.lines(of: result.outputEnd)
        let reason = lines.last { !$0.isEmpty } ?? "it ended with the status \(result.status)"
        self.init("par2 failed: \(reason)")
    }
}

/// The names of the files that a file of repair blocks describes.
///
/// Source: "Parity Volume Set Specification 2.0", "File Description packet".
private struct ParityNames {
    /// A name that is not the name of a file in the same folder, or `nil` if there is none.
    private(set) var foreignName: String?

    private static let packetStart = Array("PAR2\0PKT".utf8)
    private static let typeOffset = 48
    private static let type = Array("PAR 2.0\0FileDesc".utf8)
    private static let nameOffset = 120
    /// The number of bytes of a packet that are examined, which is more than file systems allow in a name.
    private static let examinedSize = 8 << 10

    /// Reads all packets of a file, also those that are damaged.
    init(of source: ByteSource) throws(FileError) {
        try source.forEachChunk { bytes, offset throws(FileError) in
            var bytes = bytes
            let chunkSize = bytes.count
            // A packet can continue in the next chunk.
            bytes += try source.bytes(at: offset + chunkSize, count: Self.examinedSize)
            let span = bytes.span
            for start in 0..<chunkSize where span[start] == Self.packetStart[0] {
                note(packet: span.extracting(start..<min(span.count, start + Self.examinedSize)))
            }
        }
    }

    private mutating func note(packet: Span<UInt8>) {
        guard packet.count > Self.nameOffset,
            packet.extracting(first: Self.packetStart.count).equals(Self.packetStart.span),
            packet.extracting(Self.typeOffset..<Self.typeOffset + Self.type.count).equals(Self.type.span)
        else { return }
        var length = 0
        // The length is a little-endian number of 64 bits.
        for index in (8..<16).reversed() { length = min(length << 8 | Int(packet[index]), Self.examinedSize) }
        guard length > Self.nameOffset else { return }
        var name: [UInt8] = []
        for index in Self.nameOffset..<min(length, packet.count) where packet[index] != 0 { name.append(packet[index]) }
        let isForeign =
            name.contains(UInt8(ascii: "/")) || name.contains(UInt8(ascii: "\\")) || name.first == UInt8(ascii: ".")
        if isForeign, foreignName == nil { foreignName = String(decoding: name.prefix(255), as: UTF8.self) }
    }
}
