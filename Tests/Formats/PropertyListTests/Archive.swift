import Foundation
import TestSupport
import Testing

@testable import PropertyList

/// Creates keyed archives from Python expressions for their objects.
///
/// `U(1)` is a UID, `cls("Name", "Parent", …)` is a class record, and object 1 is the root.
enum Archive {
    /// Returns a keyed archive as a binary property list, written by Python's `plistlib`.
    static func make(_ objects: String, top: String = "{'root': U(1)}") throws -> [UInt8] {
        let program = """
            import plistlib, sys
            U = plistlib.UID
            def cls(name, *parents): return {'$classname': name, '$classes': [name, *parents, 'NSObject']}
            value = {'$version': 100000, '$archiver': 'NSKeyedArchiver', '$top': \(top),
                     '$objects': ['$null', \(objects)]}
            sys.stdout.buffer.write(plistlib.dumps(value, fmt=plistlib.FMT_BINARY, sort_keys=False))
            """
        return try python(program)
    }
}

/// Returns the output of a Python program.
func python(_ program: String, _ arguments: String..., input: String = "") throws -> [UInt8] {
    // The program is passed as input, because it may be too long for an argument.
    let reader = "import sys; exec(sys.stdin.buffer.read(int(sys.argv.pop(1))))"
    let command = ["python3", "-c", reader, "\(program.utf8.count)"] + arguments
    return Array(try tool(command, input: Array((program + input).utf8)))
}
