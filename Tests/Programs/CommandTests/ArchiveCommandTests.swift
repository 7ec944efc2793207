import Foundation
import TestSupport
import Testing

/// Tests of archives as inputs of commands, from files and on standard input.
@Suite struct ArchiveCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @discardableResult
    private func pack(_ sampleName: String, as name: String, _ command: String) throws -> String {
        try tool("bash", "-c", "cd \"$1\" && \(command)", folder(name), sample(sampleName))
        return folder(name)
    }

    private func packAll(_ sampleName: String) throws -> [String] {
        [
            try pack(sampleName, as: "a.zip", #"bsdtar --format zip -cf "$0" ."#),
            try pack(sampleName, as: "a.7z", #"bsdtar --format 7zip -cf "$0" ."#),
            try pack(sampleName, as: "a.tar", #"tar -cf "$0" ."#),
            try pack(sampleName, as: "a.tar.gz", #"tar -czf "$0" ."#),
            try pack(sampleName, as: "a.tar.xz", #"tar -cJf "$0" ."#),
            try pack(sampleName, as: "a.tar.zst", #"tar --zstd -cf "$0" ."#),
            try pack(sampleName, as: "a.cpio", #"find . | bsdcpio -o -H newc > "$0""#),
        ]
    }

    @Test(arguments: samples) func archiveHasSameRecordsAsFolder(name: String) throws {
        let expected = try pingferry("convert", "-q", "--label", "x", "-o", "-", sample(name))
        for archive in try packAll(name) {
            let given = try pingferry("convert", "-q", "--label", "x", "-o", "-", archive)
            #expect(given.output == expected.output)
            #expect(given.errors == expected.errors)
            #expect(given.status == expected.status)
            let piped = try shell(#"cat "$1" | "$0" convert -q --label x -o - -"#, [archive])
            #expect(piped.output == expected.output)
            #expect(piped.status == expected.status)
        }
    }

    @Test(
        "An unusual capture yields the same results as a folder, an archive and a pipe", arguments: try unusualCaptures)
    func unusualCapture(name: String) throws {
        let capture = "\(try SharedCaptures.unpacked("unusual"))/\(name)"
        let commands = [
            ["convert", "-q", "--label", "x", "-o", "-"], ["scan", "--json", "-q", "--inventory", "--label", "x"],
        ]
        let expected = try commands.map { try shell(#""$0" "$@""#, $0 + [capture]) }
        let packers = [
            ("a.tar", #"tar -cf "$0" ."#), ("a.zip", #"zip -qry "$0" ."#),
            ("streamed.zip", #"bsdtar --format zip -cf - . | cat > "$0""#),
            ("sparse.tar", #"tar --sparse -cf "$0" ."#),
        ]
        func check(_ finished: FinishedProgram, _ command: Int, _ archive: String) {
            #expect(finished.status == expected[command].status, "\(archive): \(finished.errors)")
            // An error contains the path of the capture.
            if finished.status != 65 { #expect(finished.output == expected[command].output, "\(archive)") }
        }
        for (archive, packer) in packers {
            try tool("bash", "-c", "cd \"$1\" && \(packer)", folder(archive), capture)
            check(try shell(#""$0" "$@""#, commands[0] + [folder(archive)]), 0, archive)
        }
        // Archives differ only in how their members are read, so that one of them suffices for `scan` and a pipe.
        check(try shell(#""$0" "$@""#, commands[1] + [folder("a.tar")]), 1, "a.tar")
        for (index, command) in commands.enumerated() {
            let piped = try shell(#"archive=$1; shift; cat "$archive" | "$0" "$@" -"#, [folder("a.tar")] + command)
            check(piped, index, "a.tar")
        }
    }

    private static var unusualCaptures: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: SharedCaptures.unpacked("unusual")).sorted() }
    }

    @Test func archiveAsRedirectedFile() throws {
        let expected = try pingferry("convert", "-q", "--label", "x", "-o", "-", sample("damaged"))
        for archive in try packAll("damaged") {
            let given = try shell(#""$0" convert -q --label x -o - - < "$1""#, [archive])
            #expect(given.output == expected.output)
            #expect(given.status == expected.status)
        }
    }

    @Test func bundleOfArchiveEqualsBundleOfFolder() throws {
        try pingferry("bundle", "-q", "--label", "x", "-o", folder("1.tar.zst"), sample("damaged"))
        let archive = try pack("damaged", as: "a.zip", #"bsdtar --format zip -cf "$0" ."#)
        try pingferry("bundle", "-q", "--label", "x", "-o", folder("2.tar.zst"), archive)
        // The digest covers all members except for the manifest, which lists the inputs and therefore differs.
        let digests = try ["1", "2"].map { try pingferry("verify", folder("\($0).tar.zst")).lines.last }
        #expect(digests[0]?.hasPrefix("digest ") == true)
        #expect(digests[0] == digests[1])
    }

    @Test func bundleOnStandardInput() throws {
        let bundle = folder("a.tar.zst")
        try pingferry("bundle", "-q", "-o", bundle, sample("firefox"))
        let expected = try pingferry("convert", "-q", "-o", "-", bundle)
        let piped = try shell(#"cat "$1" | "$0" convert -q -o - -"#, [bundle])
        #expect(piped.output == expected.output)
        let salvaged = try shell(#"cat "$1" | head -c -1 | "$0" convert --salvage -q -o - -"#, [bundle])
        #expect(salvaged.output == expected.output)
    }

    @Test func invalidStandardInput() throws {
        for input in ["", "junk"] {
            let finished = try shell(#"printf "$1" | "$0" scan -"#, [input])
            #expect(finished.status == 65)
            #expect(finished.errorLines.first == "pingferry: standard input: no known store was found")
        }
    }

    @Test func v7TarOnStandardInput() throws {
        let expected = try pingferry("convert", "-q", "--label", "x", "-o", "-", sample("focus"))
        let archive = try pack("focus", as: "old", #"tar --format v7 -cf "$0" ."#)
        let piped = try shell(#"cat "$1" | "$0" convert -q --label x -o - -"#, [archive])
        #expect(piped.output == expected.output)
        #expect(piped.status == expected.status)
    }

    @Test func tripleCompressionIsRejected() throws {
        let archive = try pack("focus", as: "a.tgz", #"tar -c . | gzip | gzip | gzip > "$0""#)
        for script in [#""$0" scan "$1""#, #""$0" scan - < "$1""#, #"cat "$1" | "$0" scan -"#] {
            let finished = try shell(script, [archive])
            #expect(finished.status == 65)
            #expect(finished.errors.contains("more than 2 compressions, one in the other"))
            #expect(finished.errors.contains("unpack the archive and pass the folder"))
        }
    }

    // MARK: Damage

    @Test func damagedArchiveIsReadUpToTheDamage() throws {
        let archive = try pack("webxr", as: "a.tar", #"tar -cf "$0" . && truncate -s -12000 "$0""#)
        let finished = try pingferry("scan", archive)
        #expect(finished.status == 1)
        #expect(finished.errorLines.count == 1 || finished.errorLines.count == 2)
        #expect(finished.errors.contains("damaged"))
        #expect(try pingferry("convert", "-q", "-o", "-", archive).lines.count > 0)
    }

    @Test func unreadableArchiveIsRejected() throws {
        try folder.put("PK nothing", "a.zip")
        try folder.put("nothing", "a.tar")
        for name in ["a.zip", "a.tar"] {
            let finished = try pingferry("scan", folder(name))
            #expect(finished.status == 65)
            #expect(finished.errorLines.first?.hasPrefix("pingferry: \(folder(name)): ") == true)
            #expect(finished.errorLines.count == 2)
        }
    }

    @Test func encryptedMembersAreReported() throws {
        let archive = try pack("webxr", as: "a.zip", #"zip -qr -P secret "$0" ."#)
        let finished = try pingferry("scan", archive)
        #expect(finished.status == 1)
        #expect(finished.errors.contains("encrypted; unpack the archive yourself and give the folder"))
    }

    @Test func archiveWithoutStoresIsRejected() throws {
        try folder.put("x", "notes/notes.txt")
        try tool("tar", "-cf", folder("a.tar"), "-C", folder("notes"), ".")
        let finished = try pingferry("scan", folder("a.tar"))
        #expect(finished.status == 65)
        #expect(finished.errorLines.first == "pingferry: \(folder("a.tar")): no known store was found")
    }

    // MARK: The spool

    @Test func spoolLimitIsReported() throws {
        let archive = try pack("webxr", as: "a.zip", #"bsdtar --format zip -cf "$0" ."#)
        let finished = try pingferry("scan", "--spool-limit", "0", archive)
        #expect(finished.status == 74)
        #expect(
            finished.errorLines == [
                "pingferry: cannot spool to /tmp: it would hold more than the limit",
                "hint: increase --spool-limit, or unpack the archive and pass the folder",
            ])
    }

    /// A limit of file sizes has the effect of a full disk, but requires no mount.
    @Test func fullDiskIsReported() throws {
        let archive = try pack("webxr", as: "a.zip", #"bsdtar --format zip -cf "$0" ."#)
        let finished = try shell(
            #"trap '' XFSZ; ulimit -f 1; TMPDIR="$2" "$0" scan "$1"; s=$?; ls -A "$2"; exit $s"#,
            [archive, try folder.makeFolder("tmp")])
        #expect(finished.status == 74)
        #expect(finished.text == "")
        #expect(
            finished.errorLines == [
                "pingferry: cannot spool to \(folder("tmp")): File too large",
                "hint: set TMPDIR to a folder on a disk with enough free space",
            ])
    }

    @Test func missingSpoolFolderIsReported() throws {
        let archive = try pack("webxr", as: "a.zip", #"bsdtar --format zip -cf "$0" ."#)
        let finished = try shell(#"TMPDIR=/none "$0" scan "$1""#, [archive])
        #expect(finished.status == 74)
        #expect(finished.errorLines.first == "pingferry: cannot spool to /none: No such file or directory")
        #expect(try shell(#"TMPDIR=/none "$0" scan "$1""#, [sample("webxr")]).status == 0)
    }

    /// The process is killed while it waits for the rest of a stream and has members in the spool.
    @Test(arguments: [SIGKILL, SIGTERM]) func spoolIsRemovedWhenProcessIsKilled(number: Int32) throws {
        try folder.makeFolder("tmp")
        let script = #"""
            import glob, os, signal, subprocess, sys, tarfile
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            program, temporary, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
            process = subprocess.Popen([program, "scan", "-"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "TMPDIR": temporary})
            archive = tarfile.open(fileobj=process.stdin, mode="w|")
            def spooled():
                for link in glob.glob("/proc/%d/fd/*" % process.pid):
                    try:
                        if os.readlink(link).startswith(temporary + "/") and os.stat(link).st_size:
                            return oct(os.stat(link).st_mode & 0o777)
                    except OSError:
                        pass
            count = 0
            while not spooled():
                info = tarfile.TarInfo("MozTelemetry-Default-core/%d.json" % count)
                info.size = 100000
                archive.addfile(info, open("/dev/zero", "rb"))
                count += 1
            print(spooled(), os.listdir(temporary))
            process.send_signal(number)
            print(process.wait(), os.listdir(temporary))
            os._exit(0)
            """#
        let finished = try shell(
            #"python3 -u -c "$1" "$0" "$2" "$3""#, [script, folder("tmp"), "\(number)"])
        #expect(finished.text == "0o600 []\n-\(number) []\n", "\(finished.errors)")
    }
}
