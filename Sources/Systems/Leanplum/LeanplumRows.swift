import JSONText
import Telemetry

/// The conversion of requests to table rows.
///
/// Each request is an event.
///
/// Source: "Exports", section 1; "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section B.
struct LeanplumRows: RowFormat {
    let tables: [Table] = []

    private static let advanceAction = "advance"

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        guard let requests = document.array(LeanplumKeys.data, in: document.root) else { return DeviceCells() }
        var device = DeviceCells()
        var request = document.firstElement(of: requests)
        while let current = request {
            Self.updateDevice(from: current, in: document, &device, &rows.buffer)
            rows.add(Self.cells(of: current, in: document, &rows.buffer, &nested))
            request = document.element(after: current, of: requests)
        }
        return device
    }

    private static func cells(
        of request: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer, _ nested: inout JSONDocument
    ) -> EventCells {
        var cells = EventCells()
        if let time = document.leanplumTime(of: request) { cells.basis = .event(time) }
        cells.userID = buffer.keep(string: document.value(of: LeanplumKeys.userID, in: request), of: document)
        let action = document.value(of: LeanplumKeys.action, in: request)
        cells.method = buffer.keep(string: action, of: document)
        cells.name = buffer.keep(string: name(of: request, action, in: document) ?? action, of: document)
        cells.extra = params(of: request, in: document, &buffer, &nested)
        return cells
    }

    /// Returns the event name of a `track` request or the state name of an `advance` request, or `nil` if there is
    /// neither.
    private static func name(of request: JSONNode, _ action: JSONNode?, in document: JSONDocument) -> JSONNode? {
        guard let action, document.kind(of: action) == .string else { return nil }
        let key: JSONKey
        if document.bytes(of: action).equals(LeanplumVocabulary.trackAction) {
            key = LeanplumKeys.event
        } else if document.bytes(of: action).equals(advanceAction) {
            key = LeanplumKeys.state
        } else {
            return nil
        }
        return document.value(of: key, .string, in: request)
    }

    /// Returns the parameters of a request as JSON.
    ///
    /// The parameters are returned unchanged unless they are a string that contains JSON.
    private static func params(
        of request: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer, _ nested: inout JSONDocument
    ) -> Cell {
        guard let params = document.value(of: LeanplumKeys.params, in: request) else { return .null }
        guard nested.read(stringAt: params, of: document) else { return buffer.keep(json: params, of: document) }
        return buffer.keep(json: nested.root, of: nested)
    }

    /// Updates `device` with the device properties in `request`.
    ///
    /// Properties missing from `request` keep their values, because most requests contain only the locale.
    private static func updateDevice(
        from request: JSONNode, in document: JSONDocument, _ device: inout DeviceCells, _ buffer: inout RowBuffer
    ) {
        func keep(_ key: JSONKey, _ cell: inout Cell) {
            let value = buffer.keep(string: document.value(of: key, in: request), of: document)
            if value != .null { cell = value }
        }
        keep(LeanplumKeys.systemName, &device.os)
        keep(LeanplumKeys.systemVersion, &device.osVersion)
        keep(LeanplumKeys.deviceModel, &device.device)
        keep(LeanplumKeys.locale, &device.locale)
    }
}
