import PropertyList
import Telemetry

/// A reader for the property lists in which older SDKs store requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.3 and A.4.
package struct LeanplumPropertyList {
    private let document: PropertyListDocument
    private var requests: LeanplumRequests
    private var jsonWriter: PropertyListJSONWriter
    private var isOutOfBudget = false

    /// Reads a property list that is an array of requests.
    package static func readRequests(
        _ bytes: [UInt8], adding requests: LeanplumRequests, into output: inout ScanOutput
    ) {
        guard let document = parse(bytes, into: &output) else { return }
        guard document.kind(of: document.root) == .array else {
            return output.rejects.append(Reject("unsupported_schema the root is no array"))
        }
        var reader = LeanplumPropertyList(document, requests)
        let elements = document.elements(of: document.root)
        for position in 0..<elements.count where !reader.isOutOfBudget {
            reader.add(document.element(at: position, of: elements), into: &output)
        }
        reader.requests.finish(into: &output)
    }

    /// Reads the requests in the preferences of an app.
    package static func readDefaults(
        _ bytes: [UInt8], from source: Source, secret: RunSecret, into output: inout ScanOutput
    ) {
        guard let document = parse(bytes, into: &output) else { return }
        guard document.kind(of: document.root) == .dictionary else {
            return output.rejects.append(Reject("unsupported_schema the root is no dictionary"))
        }
        let defaults = LeanplumDefaults(document)
        guard let itemCount = defaults.itemCount else {
            return output.rejects.append(Reject("unsupported_schema the number of items is no integer"))
        }
        let requests = LeanplumRequests(from: source, applicationID: defaults.applicationID, secret: secret)
        var reader = LeanplumPropertyList(document, requests)
        for (index, node) in defaults.items where index < itemCount && !reader.isOutOfBudget {
            reader.requests.reportMissing(before: index, into: &output)
            reader.add(node, into: &output)
        }
        if !reader.isOutOfBudget { reader.requests.reportMissing(before: itemCount, into: &output) }
        reader.requests.finish(into: &output)
    }

    private static func parse(_ bytes: [UInt8], into output: inout ScanOutput) -> PropertyListDocument? {
        do throws(PropertyListError) {
            let document = try PropertyListDocument(bytes)
            if let repeated = document.repeatedKeys {
                output.report(Problem(repeated.code.rawValue, repeated.reason, at: repeated.offset))
            }
            return document
        } catch {
            output.rejects.append(Reject("corrupt \(error.code.rawValue): \(error.reason)", offset: error.offset))
            return nil
        }
    }

    private init(_ document: PropertyListDocument, _ requests: LeanplumRequests) {
        self.document = document
        self.requests = requests
        // Keys are not sorted here because requests are sorted later. The SDK writes only values that JSON can express.
        let sizeLimit = requests.limits.byteCount
        jsonWriter = PropertyListJSONWriter(
            document, keyOrder: .file, nonJSONValues: .refused,
            limits: PropertyListJSONWriter.Limits(valueSize: sizeLimit, fileSize: sizeLimit + 4 * document.sourceLength)
        )
    }

    private mutating func add(_ node: PropertyListNode, into output: inout ScanOutput) {
        let position = "at byte \(document.offset(of: node))"
        guard document.kind(of: node) == .dictionary else {
            return requests.skipItem(.notObject, position, into: &output)
        }
        do throws(PropertyListJSONWriter.WritingError) {
            try jsonWriter.write(node)
            requests.append(jsonWriter.text, into: &output)
        } catch {
            switch error.kind {
            case .unrepresentable: requests.skipItem(.nonJSONValue, position, into: &output)
            case .tooLarge: requests.skipItem(.tooLarge, position, into: &output)
            case .outOfBudget:
                isOutOfBudget = true
                output.rejects.append(
                    Reject("budget-exceeded the items from \(requests.itemCount) on share more than they hold"))
            }
        }
    }
}
