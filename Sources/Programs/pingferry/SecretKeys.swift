import PropertyList
import Telemetry

extension SystemTable {
    /// Returns the keys, as UTF-8, of the secrets in a document that is a keyed archive of known systems.
    ///
    /// The set is empty for other documents, and if the systems declare no secrets.
    func secretKeys(in document: PropertyListDocument) -> Set<[UInt8]> {
        let secrets = all.compactMap { $0.stores?.secrets }
        guard !secrets.isEmpty, let archive = try? KeyedArchive(document) else { return [] }
        return Set(secrets.filter { archive.hasClass(named: $0.classNames) }.flatMap(\.keys).map { Array($0.utf8) })
    }
}
