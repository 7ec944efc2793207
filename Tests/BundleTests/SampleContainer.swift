import Files

@testable import Bundle

/// Containers for tests.
enum SampleContainer {
    /// Names and contents that need no, little and much padding, and frames of one and several blocks.
    static let members: [(name: String, contents: [UInt8])] = [
        ("pingferry-bundle.json", Array(#"{"format":"pingferry-bundle","version":1}"#.utf8)),
        ("records/000000.ndjson", text(lines: 40)),
        ("quarantine/empty", []),
        ("quarantine/block", [UInt8](repeating: 7, count: 512)),
        (String(repeating: "n", count: 100), [0]),
        ("manifest.json", Array("{}".utf8)),
    ]

    static func text(lines: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        var bytes: [UInt8] = []
        for line in 0..<lines {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes += Array(#"{"line":\#(line),"value":"\#(state >> 20)"}"#.utf8) + [10]
        }
        return bytes
    }

    static func container(
        _ members: [(name: String, contents: [UInt8])] = members, level: Int = 3
    ) throws -> [UInt8] {
        let encoder = try FrameEncoder(level: level)
        var writer = ContainerWriter()
        var bytes: [UInt8] = []
        let sink: (Span<UInt8>) -> Void = { bytes.append(copying: $0) }
        for member in members {
            let encoded = try encoder.compressMember(named: member.name, contents: member.contents.span)
            try writer.append(encoded, to: sink)
        }
        try writer.finish(end: try encoder.compressArchiveEnd(), to: sink)
        return bytes
    }

    /// Opens a container and reads all members.
    static func read(_ bytes: [UInt8]) throws -> [String: [UInt8]] {
        let reader = try ContainerReader(ByteSource(bytes))
        var decoder = FrameDecoder()
        var result: [String: [UInt8]] = [:]
        for member in try reader.allMembers() {
            result[member.name] = try reader.read(member, with: &decoder, byteLimit: 1 << 24)
        }
        return result
    }

    static func salvage(_ bytes: [UInt8], memberSizeLimit: Int = 1 << 24) throws -> Salvage {
        var scanner = try FrameScanner(ByteSource(bytes), memberSizeLimit: memberSizeLimit)
        var result = Salvage()
        while let finding = try scanner.next() {
            switch finding {
            case .member(let member): result.members.append(member)
            case .part(let part): result.parts.append(part)
            case .tooLarge(let name, _, _): result.tooLarge.append(name)
            case .gap(let offset, let length, _): result.gaps.append(offset..<offset + length)
            }
        }
        result.hasFoundEnd = scanner.hasFoundEnd
        return result
    }

    struct Salvage {
        var members: [FrameScanner.Member] = []
        var parts: [FrameScanner.Member] = []
        var tooLarge: [String] = []
        var gaps: [Range<Int>] = []
        var hasFoundEnd = false

        var contents: [String: [UInt8]] {
            Dictionary(members.map { ($0.name, $0.contents) }) { first, _ in first }
        }
    }

    static var contents: [String: [UInt8]] {
        Dictionary(members.map { ($0.name, $0.contents) }) { first, _ in first }
    }
}

extension ContainerReader {
    /// Returns all members after reading their headers.
    func allMembers() throws -> [Member] {
        var decoder = FrameDecoder()
        var members: [Member] = []
        for index in 0..<memberCount { members.append(try member(at: index, with: &decoder)) }
        return members
    }
}
