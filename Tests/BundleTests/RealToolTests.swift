import CZstd
import TestSupport
import Testing

@testable import Bundle

/// Tests that read containers with other programs.
@Suite struct RealToolTests {
    private let file: TemporaryFile
    private let names = SampleContainer.members.map(\.name).joined(separator: "\n") + "\n"

    init() throws { file = try TemporaryFile(try SampleContainer.container()) }

    @Test func tarListsMembers() throws {
        #expect(try tool("tar", "--zstd", "-tf", file.path) == names)
        let modes = try tool("tar", "--zstd", "--numeric-owner", "-tvf", file.path)
        #expect(modes.split(separator: "\n").allSatisfy { $0.hasPrefix("-rw------- 0/0 ") })
    }

    @Test func bsdtarListsMembers() throws {
        #expect(try tool("bsdtar", "-tf", file.path) == names)
    }

    @Test func zstdTestSucceeds() throws {
        try tool("zstd", "-q", "-t", file.path)
    }

    @Test func pythonReadsEveryMember() throws {
        let script = """
            import hashlib, io, subprocess, sys, tarfile
            tar = tarfile.open(fileobj=io.BytesIO(subprocess.check_output(["zstd", "-dc", sys.argv[1]])))
            for member in tar:
                print(member.name, member.size, hashlib.sha256(tar.extractfile(member).read()).hexdigest())
            """
        #expect(try tool("python3", "-c", script, file.path) == (try listing()))
    }

    /// Follows the description of the seekable format: footer, table, frames.
    ///
    /// Each frame is decoded separately by the zstd command.
    @Test func pythonFindsEveryMemberThroughTheSeekTable() throws {
        let script = """
            import hashlib, struct, subprocess, sys
            data = open(sys.argv[1], "rb").read()
            count, flags, magic = struct.unpack("<IBI", data[-9:])
            assert magic == 0x8F92EAB1 and flags == 0x80
            table = len(data) - 9 - 12 * count - 8
            assert struct.unpack("<II", data[table:table + 8]) == (0x184D2A5E, 12 * count + 9)
            offset = 0
            for index in range(count):
                at = table + 8 + 12 * index
                compressed, size, checksum = struct.unpack("<III", data[at:at + 12])
                frame = data[offset:offset + compressed]
                offset += compressed
                assert struct.unpack("<I", frame[-4:])[0] == checksum
                tar = subprocess.run(["zstd", "-dc"], input=frame, stdout=-1, check=True).stdout
                assert len(tar) == size
                if index == count - 1:
                    assert tar == bytes(1024)
                    break
                name, length = tar[:100].rstrip(b"\\0").decode(), int(tar[124:135], 8)
                assert size == 512 + (length + 511) // 512 * 512
                print(name, length, hashlib.sha256(tar[512:512 + length]).hexdigest())
            assert offset == table
            """
        #expect(try tool("python3", "-c", script, file.path) == (try listing()))
    }

    private func listing() throws -> String {
        let encoder = try FrameEncoder(level: 1)
        return try SampleContainer.members.reduce(into: "") { text, member in
            let encoded = try encoder.compressMember(named: member.name, contents: member.contents.span)
            text += "\(member.name) \(member.contents.count) \(encoded.sha256.hex)\n"
        }
    }
}

/// Returns a zstd frame of arbitrary bytes, as the zstd command creates it.
func zstd(_ bytes: [UInt8]) throws -> [UInt8] {
    let context = try #require(ZSTD_createCCtx())
    defer { ZSTD_freeCCtx(context) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let size = ZSTD_compress2(context, &output, output.count, bytes, bytes.count)
    try #require(ZSTD_isError(size) == 0)
    return Array(output.prefix(size))
}
