import JSONText

/// The keys of a record's line and of the objects in it.
///
/// Source: "The record", section "Keys".
package enum RecordKeys {
    package static let app: JSONKey = "app"
    package static let build: JSONKey = "build"
    package static let capture: JSONKey = "capture"
    package static let channel: JSONKey = "channel"
    package static let client: JSONKey = "client"
    package static let headers: JSONKey = "headers"
    package static let held: JSONKey = "held"
    package static let id: JSONKey = "id"
    package static let index: JSONKey = "index"
    package static let method: JSONKey = "method"
    package static let name: JSONKey = "name"
    package static let notes: JSONKey = "notes"
    package static let path: JSONKey = "path"
    package static let payload: JSONKey = "payload"
    package static let source: JSONKey = "source"
    package static let store: JSONKey = "store"
    package static let system: JSONKey = "system"
    package static let target: JSONKey = "target"
    package static let time: JSONKey = "time"
    package static let type: JSONKey = "type"
    package static let version: JSONKey = "version"
}
