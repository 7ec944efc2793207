import CCurl

/// The fields of a header as a list of libcurl's, freed with the value.
struct FieldList: ~Copyable {
    let pointer: UnsafeMutablePointer<curl_slist>?

    /// What libcurl would send by itself unless it is told not to.
    private static let unwanted = ["Accept", "Content-Type", "Expect", "User-Agent"]

    /// Makes a list; what libcurl would add to it is left out.
    /// - Throws: `HTTPError` if there is no memory.
    init(_ fields: [HTTPRequest.Field]) throws(HTTPError) {
        // A field without a value ends in a semicolon, and in a colon one that is not to be sent.
        var lines = fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        let given = Set(fields.map { $0.name.lowercased() })
        lines += Self.unwanted.filter { !given.contains($0.lowercased()) }.map { "\($0):" }
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
