import PropertyList
import Telemetry

extension SystemTable {
    /// Returns the keys, as UTF-8, whose values in `document` are secrets.
    ///
    /// The set is empty unless `document` is a keyed archive that has a class for which a system declares secret keys.
    func secretKeys(in document: PropertyListDocument) -> Set<[UInt8]> {
        let secrets = all.compactMap { $0.stores?.secrets }
        guard !secrets.isEmpty, let archive = try? KeyedArchive(document) else { return [] }
        return Set(secrets.filter { archive.hasClass(named: $0.classNames) }.flatMap(\.keys).map { Array($0.utf8) })
    }
}
