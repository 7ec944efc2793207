import Foundation
import TestSupport
import Testing

@testable import PropertyList

/// Makes keyed archives out of Python expressions for their objects: `U` makes a UID, `cls("Name", "Parent", …)` a class
/// record, and object 1 is the root.
enum Archive {
    /// The archive as a binary property list, as Python's own writer makes it.
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

/// What a program for Python writes.
func python(_ program: String, _ arguments: String..., input: String = "") throws -> [UInt8] {
    // The program may be too long for an argument.
    let reader = "import sys; exec(sys.stdin.buffer.read(int(sys.argv.pop(1))))"
    let command = ["python3", "-c", reader, "\(program.utf8.count)"] + arguments
    return Array(try tool(command, input: Array((program + input).utf8)))
}
