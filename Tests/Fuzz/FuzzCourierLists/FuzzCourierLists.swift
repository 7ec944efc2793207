import Hashing
import Processes

@testable import Bundle

/// Reads hostile bytes as what lies beside a bundle on a stick, or was typed from a letter: the first one tells what.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCourierLists(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: readVolumes(rest)
    case 1: readDigests(rest)
    case 2: readSignature(rest)
    default: readAnswer(rest)
    }
    return 0
}

/// A list that is taken names as many volumes as it has lines, and what is written of it is taken again.
private func readVolumes(_ bytes: [UInt8]) {
    guard case .success(let list) = VolumeList.read(bytes, of: "in/a.tar.zst") else { return }
    precondition(list.hashes.count == bytes.count { $0 == 0x0a }, "lines are skipped")
    let again = VolumeList.read(list.bytes(of: "in/a.tar.zst"), of: "in/a.tar.zst")
    guard case .success(list) = again else { preconditionFailure("a list is not taken again") }
}

/// What a list tells is a digest.
private func readDigests(_ bytes: [UInt8]) {
    guard let list = try? DigestList(bytes) else { return }
    for path in ["a.tar.zst", "in/a.tar.zst", ""] {
        guard let digest = list.digest(of: path, isOnlyOne: true) else { continue }
        precondition(ContentHash(hex: digest) != nil, "a digest that is none")
    }
}

/// What is taken for one signature has nothing in front of it and no second one in it.
private func readSignature(_ bytes: [UInt8]) {
    guard SignatureArmor.isSingleSignature(bytes) else { return }
    precondition(bytes.starts(with: "-----BEGIN SSH SIGNATURE-----\n".utf8), "something stands in front")
    precondition(bytes.count { $0 == UInt8(ascii: "-") } == 20, "more than one signature")
}

/// Only a good end tells a key, and a reason has its limit.
private func readAnswer(_ bytes: [UInt8]) {
    let result = ProgramResult(status: bytes.first == 0 ? 0 : 1, output: bytes, errors: bytes)
    precondition(result.status == 0 || KeygenOutput.key(of: result, "a") == nil, "the key of a bad signature")
    precondition(KeygenOutput.reason(of: result)?.count ?? 0 <= 300, "a reason beyond its limit")
    _ = KeygenOutput.lines(result.output)
}
