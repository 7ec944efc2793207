import Foundation
import Testing

@testable import PropertyList

/// Compares the output for random property lists, written by Python in both formats, with the JSON that Python expects.
@Suite struct PythonOracleTests {
    private static let generator = """
        import base64, datetime, json, plistlib, random, sys
        rng = random.Random(int(sys.argv[1]))
        form = plistlib.FMT_XML if sys.argv[2] == 'xml' else plistlib.FMT_BINARY
        epoch = datetime.datetime(2001, 1, 1)
        def text():
            return ''.join(chr(rng.choice([rng.randint(32, 126), rng.randint(160, 0x2FF), 0x4E2D, 0x1F600, 10, 9]))
                           for _ in range(rng.choice([0, 1, 3, 14, 15, 16, 40])))
        def value(depth):
            kind = rng.randint(0, 8 if depth < 6 else 6)
            if kind == 0: return (lambda v: (v, v))(rng.choice([True, False]))
            if kind == 1: return (lambda v: (v, v))(rng.choice([0, 1, 255, 256, -1, 2**63 - 1, -2**63, 2**64 - 1, rng.randint(-2**40, 2**40)]))
            if kind == 2: return (lambda v: (v, v))(rng.choice([0.5, -1.5e-7, 1e21, 123456.789, 5e-324, 1.7976931348623157e308, rng.random()]))
            if kind == 3: return (lambda v: (v, v))(text())
            if kind == 4: return (lambda v: (v, {'$data': base64.b64encode(v).decode()}))(bytes(rng.randrange(256) for _ in range(rng.randint(0, 40))))
            if kind == 5:
                v = epoch + datetime.timedelta(seconds=rng.randint(-2**32, 2**32))
                return v, v.isoformat() + 'Z'
            if kind == 6: return (lambda n: (plistlib.UID(n) if form == plistlib.FMT_BINARY else {'CF$UID': n}, {'CF$UID': n}))(rng.choice([0, 255, 256, 2**32 - 1]))
            pairs = [value(depth + 1) for _ in range(rng.randint(0, 20 if depth == 0 else 5))]
            if kind == 7: return [a for a, b in pairs], [b for a, b in pairs]
            keys = list(dict.fromkeys(text() + str(n) for n in range(len(pairs))))
            return {k: a for k, (a, b) in zip(keys, pairs)}, {k: b for k, (a, b) in zip(keys, pairs)}
        stored, expected = value(0)
        while not isinstance(stored, (dict, list)): stored, expected = value(0)
        file = plistlib.dumps(stored, fmt=form)
        sys.stdout.buffer.write(len(file).to_bytes(8, 'big') + file + json.dumps(expected).encode())
        """

    @Test(arguments: 1...6, ["binary", "xml"]) func matchesPython(seed: Int, form: String) throws {
        let output = try python(Self.generator, "\(seed)", form)
        let length = output.prefix(8).reduce(0) { $0 << 8 | Int($1) }
        let file = Array(output[8..<8 + length])
        let ours = try printed(file, raw: true)
        let comparison = """
            import json, sys
            text = sys.stdin.buffer.read().decode()
            length = int(sys.argv[1])
            sys.exit(0 if json.loads(text[:length]) == json.loads(text[length:]) else 1)
            """
        let theirs = String(decoding: output[(8 + length)...], as: UTF8.self)
        _ = try python(comparison, "\(ours.unicodeScalars.count)", input: ours + theirs)
    }
}
