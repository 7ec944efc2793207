import CCurl

/// The header fields of a request as a libcurl list.
struct FieldList: ~Copyable {
    let pointer: UnsafeMutablePointer<curl_slist>?

    /// The fields that libcurl adds unless they are suppressed.
    private static let automaticFields = ["Accept", "Content-Type", "Expect", "User-Agent"]

    /// Creates a list of `fields`, and suppresses the other fields that libcurl would add automatically.
    init(_ fields: [HTTPRequest.Field]) throws(HTTPError) {
        // In the syntax of libcurl, a semicolon follows the name of a field without a value, and a colon alone
        // suppresses a field.
        var lines = fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        let givenNames = Set(fields.map { $0.name.lowercased() })
        lines += Self.automaticFields.filter { !givenNames.contains($0.lowercased()) }.map { "\($0):" }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw .other("there is not enough memory", wasSent: false)
            }
            list = longer
        }
        pointer = list
    }

    deinit { curl_slist_free_all(pointer) }
}
