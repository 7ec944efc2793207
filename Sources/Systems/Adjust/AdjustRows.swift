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
        cells.revenue = Self.revenue(of: document, &rows.buffer)
        cells.currency = keep(AdjustParameters.currency)
        cells.extra = rows.buffer.keep(Self.extra(of: document, to: &rows, &nested))
        rows.add(cells)
        var device = DeviceCells(
            os: keep(AdjustParameters.osName), osVersion: keep(AdjustParameters.osVersion),
            device: keep(AdjustParameters.deviceName))
        if let language = document.text(AdjustParameters.language, in: document.root),
            let country = document.text(AdjustParameters.country, in: document.root)
        {
            device.locale = rows.buffer.keep("\(language)-\(country)")
        }
        return device
    }

    /// Returns the revenue, or the amount of older versions, which is in thousandths of the unit of the currency.
    private static func revenue(of document: JSONDocument, _ buffer: inout RowBuffer) -> Cell {
        if let revenue = document.value(of: AdjustParameters.revenue, .string, in: document.root) {
            return buffer.keep(decimal: revenue, of: document)
        }
        guard let amount = document.value(of: AdjustParameters.amount, .string, in: document.root),
            let thousandths = Int64(decimal: document.bytes(of: amount)), thousandths >= 0
        else { return .null }
        let fraction = String(thousandths % 1000 + 1000).dropFirst()
        return buffer.keep(number: "\(thousandths / 1000).\(fraction)".utf8.span)
    }

    /// Returns the parameters that the app set, the choices of the user and the currency as JSON, or `nil` if there are
    /// none.
    ///
    /// Adds the parameters that the app set to the table of attributes, too.
    private static func extra(
        of document: JSONDocument, to rows: inout RecordRows, _ nested: inout JSONDocument
    ) -> String? {
        var extra = CanonicalObject()
        let root = document.root
        for (name, key, kind) in appParameters {
            guard let value = document.value(of: key, .string, in: root) else { continue }
            if nested.read(stringAt: value, of: document) {
                extra.set(name, CanonicalText(nested.canonicalBytes(of: nested.root)))
                if let kind { rows.add(attributesIn: nested.root, of: nested, kind: kind) }
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
            rows.add(attributesIn: nested.root, of: nested, kind: .callback)
        }
        for (key, isInColumn) in otherParameters {
            guard let value = document.value(of: key, in: root), document.kind(of: value) != .null,
                document.kind(of: value) != .string || !isInColumn && !document.bytes(of: value).isEmpty
            else { continue }
            extra.set(key, CanonicalText(document.canonicalBytes(of: value)))
        }
        return extra.bytes.elementsEqual("{}".utf8) ? nil : String(decoding: extra.bytes, as: UTF8.self)
    }

    /// The names in the column `extra` of the parameters that contain JSON, their keys, and the kinds of their attributes.
    private static let appParameters: [(name: JSONKey, key: JSONKey, kind: AttributeKind?)] = [
        ("callback", AdjustParameters.callbackParams, .callback),
        ("partner", AdjustParameters.partnerParams, .partner),
        (AdjustParameters.sharingOptions, AdjustParameters.sharingOptions, nil),
        (AdjustParameters.sharingSettings, AdjustParameters.sharingSettings, nil),
    ]

    /// The other parameters in the column `extra`, and whether another column contains them if they are strings.
    private static let otherParameters = [
        (AdjustParameters.currency, false), (AdjustParameters.measurement, false), (AdjustParameters.sharing, false),
        (AdjustParameters.amount, true), (AdjustParameters.revenue, true),
    ]
}
