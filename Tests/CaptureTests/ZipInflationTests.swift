import Files
import Systems
import Testing

@testable import Capture

/// Tests of reading the members of zip archives on several cores.
@Suite struct ZipInflationTests {
    /// Reads an archive with one or two jobs, and returns the contents of its files or the error.
    private func read(_ archive: TestArchive, jobs: Int) -> [String] {
        do {
            let spool = Spool()
            let spooler = ArchiveSpooler(
                ArchiveLocation(label: "capture", path: "capture.zip"), spool: spool,
                formats: CaptureFormats.all(Systems.table), jobLimit: JobLimit(jobs: jobs))
            let result = try spooler.spoolMembers(.source(ByteSource(try archive.bytes)))
            let folder = Folder(rootOf: result.tree)
            var found = result.problems.map { "\($0.path): \($0.problem.code): \($0.problem.text)" }
            for number in 1...40 {
                let source = try? folder.source(Array("\(corePings)/-t-\(number).json".utf8))
                guard let source else { continue }
                found.append(
                    "\(number): \(String(decoding: try source.bytes(at: 0, count: source.count), as: UTF8.self))")
            }
            return found
        } catch {
            return ["\(error)"]
        }
    }

    private static let pings = (1...40).map { TestArchive.Member.ping($0) }

    @Test("Deflated and stored members are inflated without libarchive", arguments: ["zip", "stored"])
    func members(format: String) throws {
        let archive = try TestArchive(format, Self.pings)
        let directory = try #require(try ZipDirectory(of: ByteSource(try archive.bytes), entryLimit: 100))
        #expect(directory.plainMembers.count == 40)
        #expect(directory.plainMembers.allSatisfy { $0.isDeflated == (format == "zip") })
        let found = read(archive, jobs: 2)
        #expect(found == (1...40).map { "\($0): \(CaptureFolder.ping($0))" })
        #expect(found == read(archive, jobs: 1))
    }

    @Test("Members whose sizes follow the contents, and archives with Zip64 records, are read")
    func descriptors() throws {
        let folder = try CaptureFolder()
        for number in 1...40 { try folder.put("\(corePings)/-t-\(number).json", CaptureFolder.ping(number)) }
        let commands = [
            #"bsdtar --format zip -cf "$0" ."#, #"find . -type f | zip -q - -@ | cat > "$0""#,
            #"bsdtar --format zip --options zip:zip64 -cf "$0" ."#,
        ]
        for command in commands {
            let archive = try TestArchive(of: folder.path, named: "capture.zip", command)
            let found = read(archive, jobs: 2)
            #expect(found == (1...40).map { "\($0): \(CaptureFolder.ping($0))" })
            #expect(found == read(archive, jobs: 1))
        }
    }

    @Test("Each changed byte has the same result as with libarchive alone")
    func damage() throws {
        for format in ["zip", "stored"] {
            let archive = try TestArchive(format, Array(Self.pings.prefix(2)))
            let bytes = try archive.bytes
            for index in bytes.indices {
                try archive.change { $0[index] ^= 0x11 }
                #expect(read(archive, jobs: 2) == read(archive, jobs: 1), "\(format), byte \(index)")
                try archive.change { $0 = bytes }
            }
        }
    }
}
