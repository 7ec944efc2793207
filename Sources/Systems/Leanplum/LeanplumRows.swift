import Bytes
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
        document.forEachElement(of: requests) { request in
            Self.updateDevice(from: request, in: document, &device, &rows.buffer)
            Self.addEvent(request, of: document, to: &rows, &nested)
        }
        return device
    }

    private static func addEvent(
        _ request: JSONNode, of document: JSONDocument, to rows: inout RecordRows, _ nested: inout JSONDocument
    ) {
        var cells = EventCells()
        // The values that other columns contain.
        var used: [JSONNode] = []
        func keep(_ node: JSONNode?) -> Cell {
            let cell = rows.buffer.keep(string: node, of: document)
            if let node, cell != .null { used.append(node) }
            return cell
        }
        if let node = document.value(of: LeanplumKeys.time, in: request), let time = document.leanplumTime(of: request)
        {
            cells.basis = .event(time)
            used.append(node)
        }
        cells.userID = keep(document.value(of: LeanplumKeys.userID, in: request))
        if let client = document.value(of: LeanplumKeys.deviceID, in: request), rows.isClient(client, of: document) {
            used.append(client)
        }
        let action = document.value(of: LeanplumKeys.action, in: request)
        cells.method = keep(action)
        let name = name(of: request, action, in: document)
        cells.name = name == nil ? cells.method : keep(name)
        cells.currency = keep(document.value(of: LeanplumKeys.currency, in: request))
        if let value = document.value(of: LeanplumKeys.value, in: request) {
            let number = rows.buffer.keep(decimal: value, of: document)
            if number != .null {
                cells.value = rows.buffer.keep(value: value, of: document)
                if cells.currency != .null { cells.revenue = number }
                used.append(value)
            }
        }
        let params = document.value(of: LeanplumKeys.params, in: request).flatMap { node in
            document.kind(of: node) == .null ? nil : node
        }
        if let params { used.append(params) }
        var attributes = AttributeSelection()
        if case .remainingData = rows.extraContents {
            attributes = addAttributes(of: request, action, in: document, except: used, to: &rows, &nested)
        }
        if rows.buffer.storesJSON {
            var other = TextBuffer()
            document.write(membersOf: request, to: &other) {
                !used.contains($0.value) && !attributes.contains($0, of: document)
            }
            cells.extra = extra(params, other.bytes, in: document, &rows.buffer, &nested)
        }
        rows.add(cells)
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

    // MARK: Attributes

    /// The members of a request that the table of attributes contains completely.
    private struct AttributeSelection {
        /// The member with the user attributes.
        var user: JSONNode?
        /// Whether all members that not every request has are attributes of the device.
        var includesDevice = false

        func contains(_ member: JSONMember, of document: JSONDocument) -> Bool {
            if member.value == user { return true }
            guard includesDevice else { return false }
            let key = document.bytes(of: member.key).copied()
            return ![LeanplumKeys.params.utf8, LeanplumKeys.userAttributes.utf8].contains(key)
                && !LeanplumFields.commonKeys.contains(key)
        }
    }

    /// Adds the attributes that a request assigns to the user and to the device.
    private static func addAttributes(
        of request: JSONNode, _ action: JSONNode?, in document: JSONDocument, except used: [JSONNode],
        to rows: inout RecordRows, _ nested: inout JSONDocument
    ) -> AttributeSelection {
        var selection = AttributeSelection()
        if let user = document.value(of: LeanplumKeys.userAttributes, in: request),
            nested.read(stringAt: user, of: document), nested.memberCount(of: nested.root) > 0
        {
            selection.user = user
            for attribute in nested.members(of: nested.root) {
                let label = LeanplumVocabulary.attributes[nested.string(of: attribute.key)]
                rows.add(attribute, of: nested, kind: .user, label: label)
            }
        }
        guard let action, document.kind(of: action) == .string,
            document.bytes(of: action).equals(LeanplumVocabulary.deviceAttributesAction)
        else { return selection }
        selection.includesDevice = true
        for member in document.members(of: request) {
            guard member.value != selection.user, !used.contains(member.value), selection.contains(member, of: document)
            else { continue }
            let label = LeanplumFields.meanings[CapturedText(document.string(of: member.key))]
            rows.add(member, of: document, kind: .device, label: label)
        }
        return selection
    }

    // MARK: Extra

    private static let requestKey: JSONKey = "request"

    /// Returns the parameters of a request, with `other` as the additional member ``requestKey``.
    ///
    /// `other` is an object with the members of the request that no other column contains, or is empty. If the parameters
    /// are not an object, or if one of them is named `params` or `request`, they are together in the member `params`.
    private static func extra(
        _ params: JSONNode?, _ other: [UInt8], in document: JSONDocument, _ buffer: inout RowBuffer,
        _ nested: inout JSONDocument
    ) -> Cell {
        let added = other.isEmpty ? nil : (requestKey, other)
        guard let params else {
            return buffer.keep(membersOf: document.root, of: document, adding: added) { _ in false }
        }
        let source: JSONDocument
        let root: JSONNode
        if nested.read(stringAt: params, of: document) {
            (source, root) = (nested, nested.root)
        } else {
            (source, root) = (document, params)
        }
        if source.kind(of: root) == .object, source.value(of: LeanplumKeys.params, in: root) == nil,
            source.value(of: requestKey, in: root) == nil
        {
            return buffer.keep(membersOf: root, of: source, adding: added)
        }
        var object = CanonicalObject()
        object.set(LeanplumKeys.params, CanonicalText(source.canonicalBytes(of: root)))
        if let added { object.set(added.0, CanonicalText(added.1)) }
        return buffer.keep(object.bytes.span)
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
