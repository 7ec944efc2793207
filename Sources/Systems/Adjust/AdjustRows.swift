import Bytes
import JSONText
import Telemetry

/// The conversion of packages to table rows, with one event for each package.
///
/// Source: "Exports", section 1; "Adjust iOS SDK: the package queue on disk, records, upload", section 14.
struct AdjustRows: RowFormat {
    let tables: [Table] = []

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        func keep(_ key: JSONKey) -> Cell {
            rows.buffer.keep(string: document.value(of: key, in: document.root), of: document)
        }
        var cells = EventCells()
        if let time = document.value(of: AdjustParameters.createdAt, .string, in: document.root),
            let instant = Timestamp(adjust: document.bytes(of: time))
        {
            cells.basis = .event(instant)
        }
        cells.category = rows.buffer.keep(type)
        let token = document.text(AdjustParameters.eventToken, in: document.root)
        cells.name = token == nil ? cells.category : rows.buffer.keep(token)
        let revenue = keep(AdjustParameters.revenue)
        cells.value = revenue == .null ? keep(AdjustParameters.amount) : revenue
        cells.extra = rows.buffer.keep(Self.extra(of: document, &nested))
        rows.add(cells)
        return DeviceCells(
            os: keep(AdjustParameters.osName), osVersion: keep(AdjustParameters.osVersion),
            device: keep(AdjustParameters.deviceName), locale: rows.buffer.keep(Self.locale(of: document)))
    }

    private static func locale(of document: JSONDocument) -> String? {
        guard let language = document.text(AdjustParameters.language, in: document.root),
            let country = document.text(AdjustParameters.country, in: document.root)
        else { return nil }
        return "\(language)-\(country)"
    }

    /// Returns the parameters that the app set and the currency as JSON, or `nil` if there are neither.
    private static func extra(of document: JSONDocument, _ nested: inout JSONDocument) -> String? {
        var extra = CanonicalObject()
        let root = document.root
        for (name, key) in [
            ("callback", AdjustParameters.callbackParams), ("partner", AdjustParameters.partnerParams),
        ] as [(JSONKey, JSONKey)] {
            guard let value = document.value(of: key, .string, in: root) else { continue }
            if nested.read(stringAt: value, of: document) {
                extra.set(name, CanonicalText(nested.canonicalBytes(of: nested.root)))
            } else {
                extra.set(name, document.string(of: value))
            }
        }
        // Older versions encode the app's parameters in Base64.
        if let value = document.value(of: AdjustParameters.params, .string, in: root),
            let decoded = Base64.decoded(document.bytes(of: value), needsPadding: true, allowsBlanks: false),
            (try? nested.read(decoded)) != nil
        {
            extra.set("callback", CanonicalText(nested.canonicalBytes(of: nested.root)))
        }
        if let currency = document.text(AdjustParameters.currency, in: root) { extra.set("currency", currency) }
        return extra.bytes.elementsEqual("{}".utf8) ? nil : String(decoding: extra.bytes, as: UTF8.self)
    }
}
