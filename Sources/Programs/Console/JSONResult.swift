import ArgumentParser
import Bytes
import CLibrary
import Files
import JSONText
import Synchronization

/// The results that commands print as JSON on standard output because of `--json`.
///
/// Each result has the members `format`, the name of its form, and `version`, the version of the form. A command that
/// fails before it has a result prints an object with the member `error` instead, so that programs that read standard
/// output always get a result.
///
/// Source: "JSON output".
public enum JSONResult {
    /// The version of all forms.
    ///
    /// It changes if a member is removed or gets another meaning, but not if a member is added.
    public static let version = 1

    private struct State {
        var isRequested = false
        var isPrinted = false
        var firstFailure: CommandError?
    }

    private static let state = Mutex(State())

    /// Sets whether the arguments of the command request a result.
    public static func request(by arguments: [String]) {
        let options = arguments.prefix { $0 != "--" }
        state.withLock { $0.isRequested = options.contains("--json") }
    }

    /// Prints a result on one line.
    public static func print(_ object: CanonicalObject, as form: JSONForm) throws {
        try print(object, arrays: [], as: form)
    }

    /// Prints a result with the members of `object` and `arrays`, sorted by their keys, on one line.
    ///
    /// The arrays need not fit in memory, because they are printed while they are produced.
    public static func print(
        _ object: CanonicalObject, arrays: [(key: JSONKey, elements: CanonicalObject.Elements)], as form: JSONForm
    ) throws {
        state.withLock { $0.isPrinted = true }
        try Terminal.print(object.named(form), arrays: arrays)
    }

    /// Notes the error that may become the result of the command.
    static func note(_ failure: CommandError) {
        state.withLock { $0.firstFailure = $0.firstFailure ?? failure }
    }

    /// Prints the error `failure` as the result for one of several inputs.
    public static func print(_ failure: CommandError) throws {
        try print(["error": failure.json], as: .error)
    }

    /// Prints the first error as the result, if a result is requested and none was printed.
    ///
    /// `status` is the exit status, and `message` describes the error if no command has reported it.
    static func printFailure(status: Int32, _ message: @autoclosure () -> String) {
        let (isNeeded, failure) = state.withLock { ($0.isRequested && !$0.isPrinted, $0.firstFailure) }
        guard isNeeded else { return }
        let code = status == EX_USAGE ? "usage" : ExitStatus(rawValue: status)?.code ?? "failed"
        let error =
            failure?.json
            ?? [
                "code": code, "hint": nil as String?, "message": message(), "path": nil as String?,
                "status": Int(status),
            ]
        // The status already reports the error, and standard output may be the reason for it.
        try? print(["error": error], as: .error)
    }
}

extension CanonicalObject {
    /// Returns the object with the members that name its form.
    fileprivate func named(_ form: JSONForm) -> CanonicalObject {
        var object = self
        object.set("format", form.name)
        object.set("version", JSONResult.version)
        return object
    }
}

extension CommandError {
    /// The error as an object with a code, a message and a remedy.
    var json: CanonicalObject {
        ["code": status.code, "hint": remedy, "message": message, "path": path, "status": Int(status.rawValue)]
    }
}

extension ExitStatus {
    /// The name of the status in JSON.
    var code: String {
        switch self {
        case .incomplete: "incomplete"
        case .badData: "bad-data"
        case .noInput: "no-input"
        case .unavailable: "unavailable"
        case .cannotCreate: "cannot-create"
        case .inputOutput: "input-output"
        case .tryLater: "try-later"
        case .noPermission: "no-permission"
        case .badConfiguration: "bad-configuration"
        }
    }
}
