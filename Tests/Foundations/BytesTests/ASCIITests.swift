import Bytes
import Testing

@Suite struct ASCIITests {
    @Test("every byte has the class of its ASCII character")
    func classes() {
        for byte in UInt8.min...UInt8.max {
            let scalar = Unicode.Scalar(byte)
            #expect(byte.isDigit == ("0"..."9").contains(scalar))
            #expect(byte.isOctalDigit == ("0"..."7").contains(scalar))
            #expect(byte.isLowercaseLetter == ("a"..."z").contains(scalar))
            #expect(byte.isUppercaseLetter == ("A"..."Z").contains(scalar))
            #expect(byte.isLetter == (byte.isLowercaseLetter || byte.isUppercaseLetter))
            #expect(byte.isBlank == [" ", "\t", "\n", "\r"].contains(scalar))
        }
    }

    @Test func onlyASCIILettersAreLowercased() {
        #expect("@AZ[az".utf8.map(\.lowercased) == Array("@az[az".utf8))
        #expect(UInt8(0xC4).lowercased == 0xC4)
    }

    @Test(arguments: [("0", 0), ("007", 7), ("2018", 2018), ("", 0), ("-1", nil), ("1a", nil), ("1/", nil), (":", nil)])
    func decimalNumbers(text: String, number: Int?) {
        #expect(text.utf8.span.decimalNumber == number)
    }
}
