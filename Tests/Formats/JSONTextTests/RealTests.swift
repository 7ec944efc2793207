import JSONText
import TestSupport
import Testing

@Suite struct RealTests {
    private func text(_ real: Double) -> String {
        var output: [UInt8] = []
        output.append(jsonNumber: real)
        return String(decoding: output, as: UTF8.self)
    }

    /// The samples of RFC 8785, appendix B, and values at the boundaries between notations.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"), (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
            (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
            (0xC340_0000_0000_0000, "-9007199254740992"), (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x7FF0_0000_0000_0000, "null"), (0x7FFF_FFFF_FFFF_FFFF, "null"),
            (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
            (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"), (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
            (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"), (0x444B_1AE4_D6E2_EF50, "1e+21"),
            (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"), (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
            (0x41B3_DE43_5555_5553, "333333333.3333332"), (0x41B3_DE43_5555_5554, "333333333.33333325"),
            (0x41B3_DE43_5555_5555, "333333333.3333333"), (0x41B3_DE43_5555_5556, "333333333.3333334"),
            (0x41B3_DE43_5555_5557, "333333333.33333343"), (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
            (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
        ] as [(UInt64, String)])
    func writesSamples(bits: UInt64, expected: String) {
        #expect(text(Double(bitPattern: bits)) == expected)
    }

    @Test(
        arguments: [
            (1, "1"), (-1, "-1"), (10, "10"), (0.5, "0.5"), (-0.1, "-0.1"), (123.25, "123.25"),
            (1e16, "10000000000000000"),
            (1e20, "100000000000000000000"), (12e20, "1.2e+21"), (1e-5, "0.00001"), (1.5e-7, "1.5e-7"),
            (1e100, "1e+100"),
            (39.73988466795583, "39.73988466795583"), (0.03154060954338789, "0.03154060954338789"),
            (9_007_199_254_740_991, "9007199254740991"), (4_503_599_627_370_495.5, "4503599627370495.5"),
        ] as [(Double, String)])
    func writesExpectedNotation(real: Double, expected: String) {
        #expect(text(real) == expected)
    }

    /// Returns the digits of a number without zeros at either end, and the exponent.
    private func decimal(_ text: String) -> (digits: Substring, exponent: Int) {
        let parts = text.split(separator: "e")
        let components = parts[0].drop { $0 == "-" }.split(separator: ".")
        let fraction = components.count > 1 ? components[1] : ""
        let digits = components[0] + fraction
        let trimmed = digits.reversed().drop { $0 == "0" }.reversed()
        let exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction.count + digits.count - trimmed.count
        return (Substring(String(trimmed)).drop { $0 == "0" }, exponent)
    }

    /// Checks that a real has the digits that the standard library computes and reads back unchanged.
    private func check(_ real: Double) {
        guard real.isFinite, real != 0 else { return }
        let text = text(real)
        #expect(decimal(text) == decimal(real.description), "\(real)")
        #expect(Double(text) == real)
    }

    @Test func randomRealsHaveDigitsOfStandardLibrary() {
        var random = SeededGenerator(seed: 17)
        for _ in 0..<30_000 { check(Double(bitPattern: random.next())) }
        for _ in 0..<30_000 { check(Double.random(in: -1000...1000, using: &random)) }
        for _ in 0..<10_000 { check(Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))) }
    }

    @Test func powersOfTwoHaveDigitsOfStandardLibrary() {
        var real = Double.leastNonzeroMagnitude
        while real.isFinite {
            for neighbour in [real.nextDown, real, real.nextUp] { check(neighbour) }
            real *= 2
        }
    }

    @Test func powersOfTenHaveDigitsOfStandardLibrary() throws {
        for exponent in -324...308 {
            let real = try #require(Double("1e\(exponent)"))
            for neighbour in [real.nextDown, real, real.nextUp] { check(neighbour) }
        }
    }
}
