import Bundle
import Files
import Systems
import Telemetry

/// Reads hostile bytes as a bundle or as a part of one.
///
/// The first byte selects the part, because random changes would rarely have correct checksums and hashes.
func fuzzBundle(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let mode = bytes.first else { return 0 }
    let contents = Array(bytes.dropFirst())
    switch mode % 4 {
    case 0: read(contents)
    case 1: read(container(manifest: contents, segment: []))
    case 2: read(container(manifest: Array("{}".utf8), segment: contents))
    default: readLines(contents)
    }
    return 0
}

/// Opens a bundle, reads all its contents, and salvages members.
private func read(_ file: [UInt8]) {
    if let reader = try? BundleReader(ByteSource(file), path: "-", knowing: Systems.table),
        var decoder = try? BundleReader.makeDecoder()
    {
        for segment in reader.manifest.segments {
            guard let contents = try? reader.contents(of: segment.path, with: &decoder) else { continue }
            precondition(contents.count == segment.bytes, "the size of the segment differs from the manifest")
        }
    }
    if let part = try? BundleReader(segmentsOf: ByteSource(file), path: "part", knowing: Systems.table),
        var decoder = try? BundleReader.makeDecoder()
    {
        for segment in part.manifest.segments.prefix(2) { _ = try? part.contents(of: segment.path, with: &decoder) }
    }
    guard var scanner = try? FrameScanner(ByteSource(file), memberSizeLimit: 1 << 16) else { return }
    var end = 0
    while let finding = try? scanner.next() {
        switch finding {
        case .member(let member):
            precondition(member.contents.count <= 1 << 16, "the member exceeds the limit")
            if BundleLayout.isSegment(member.name) { readLines(member.contents) }
        case .gap(let offset, let length, _):
            precondition(offset >= end && length > 0 && offset + length <= file.count, "the gaps overlap")
            end = offset + length
        case .part(let part):
            precondition(part.contents.count <= 1 << 16, "the part exceeds the limit")
            readLines(part.contents)
        case .tooLarge: break
        }
    }
}

/// Checks that an accepted record is written as it was read.
private func readLines(_ contents: [UInt8]) {
    var lines = RecordLines(contents, knowing: Systems.table)
    while true {
        do throws(RecordError) {
            guard let (record, range) = try lines.next() else { return }
            var line: [UInt8] = []
            record.write(to: &line)
            precondition(line == Array(contents[range]), "the record changes when it is written")
        } catch {
            continue
        }
    }
}

/// Returns a valid container with the given manifest and segment.
private func container(manifest: [UInt8], segment: [UInt8]) -> [UInt8] {
    var file: [UInt8] = []
    do {
        var encoder = try FrameEncoder(level: 1)
        var writer = ContainerWriter()
        let marker = Array("{\"format\":\"pingferry-bundle\",\"version\":1}\n".utf8)
        for (name, contents) in [
            (BundleLayout.marker, marker), (BundleLayout.segmentName(1), segment), (BundleLayout.manifest, manifest),
        ] {
            let member = try encoder.compressMember(named: name, contents: contents.span)
            try writer.append(member) { append($0, to: &file) }
        }
        try writer.finish(end: try encoder.compressArchiveEnd()) { append($0, to: &file) }
    } catch {
        preconditionFailure("the container cannot be created: \(error)")
    }
    return file
}

private func append(_ bytes: Span<UInt8>, to file: inout [UInt8]) {
    for index in bytes.indices { file.append(bytes[index]) }
}
