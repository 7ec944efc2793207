import Files
import Hashing

@testable import Bundle

/// Reads hostile bytes as a list, a signature or a receipt that accompanies a bundle.
///
/// The first byte selects the kind.
func fuzzCourierLists(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 5 {
    case 0: readVolumes(rest)
    case 1: readDigests(rest)
    case 2: readSignature(rest)
    case 4: _ = try? ExpectedReceipt(rest)
    default: readAnswer(rest)
    }
    return 0
}

/// Checks that an accepted list of volumes has one volume for each line, and is read back after it is written.
private func readVolumes(_ bytes: [UInt8]) {
    guard let list = try? VolumeList.parse(bytes, forBundleAt: "in/a.tar.zst") else { return }
    precondition(list.hashes.count == bytes.count { $0 == 0x0a }, "the list skips lines")
    let again = try? VolumeList.parse(list.bytes(forBundleAt: "in/a.tar.zst"), forBundleAt: "in/a.tar.zst")
    precondition(again == list, "the written list is rejected")
}

/// Checks that a list of digests returns only well-formed digests.
private func readDigests(_ bytes: [UInt8]) {
    guard let list = try? DigestList(bytes) else { return }
    for path in ["a.tar.zst", "in/a.tar.zst", ""] {
        guard let digest = list.digest(of: path, isOnlyBundle: true) else { continue }
        precondition(ContentHash(hex: digest) != nil, "the digest is malformed")
    }
}

/// Checks that an accepted signature has no text before it and contains no second signature.
private func readSignature(_ bytes: [UInt8]) {
    guard SignatureArmor.isSingleSignature(bytes) else { return }
    precondition(bytes.starts(with: "-----BEGIN SSH SIGNATURE-----\n".utf8), "text precedes the signature")
    precondition(bytes.count { $0 == UInt8(ascii: "-") } == 20, "there is more than one signature")
}

/// Checks that only a successful result has a key, and that the length of a reason is limited.
private func readAnswer(_ bytes: [UInt8]) {
    let result = ProgramResult(status: bytes.first == 0 ? 0 : 1, output: bytes, errors: bytes)
    precondition(
        result.status == 0 || KeygenOutput.keyDescription(in: result, for: "a") == nil, "a rejected signature has a key"
    )
    precondition(KeygenOutput.failureReason(in: result)?.count ?? 0 <= 300, "the reason exceeds its limit")
}
