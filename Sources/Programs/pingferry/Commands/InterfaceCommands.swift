import ArgumentParser
import Console
import Files

/// The command `json-schema`, which prints the JSON Schema of a result.
struct JSONSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json-schema", abstract: "Print the JSON Schema of what --json prints.",
        discussion: """
            Each result of --json has a member format, which names its form. Prints the schema of a form or, without a name, \
            the names of all forms, including those of pingferry-upload.
              pingferry json-schema
              pingferry json-schema scan > scan.schema.json

            The forms:
            \(JSONForm.all.map { "  \($0.name): \($0.meaning)" }.joined(separator: "\n"))
            """)

    @Argument(
        help: ArgumentHelp("The name of the form.", valueName: "form"), completion: .list(JSONForm.all.map(\.name)))
    var form: String?

    func validate() throws {
        guard let form else { return }
        guard JSONForm.all.contains(where: { $0.name == form }) else {
            let names = JSONForm.all.map(\.name).joined(separator: ", ")
            throw ValidationError("\(form) is not a form; the forms are \(names)")
        }
    }

    func run() async throws {
        try await reportingErrors {
            guard let form = JSONForm.all.first(where: { $0.name == form }) else {
                return try Terminal.print(lines: JSONForm.all.map(\.name).joined(separator: "\n"))
            }
            try Terminal.print(form.schema)
        }
    }
}
