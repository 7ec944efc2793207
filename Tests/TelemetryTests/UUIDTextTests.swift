import Telemetry
import Testing

/// Tests creating and recognizing UUIDs.
@Suite struct UUIDTextTests {
    @Test("The UUID of a name is the one that RFC 9562 defines.")
    func nameBased() {
        // The expected value was computed with `uuid.uuid5` in Python.
        #expect(UUIDText.nameBased("pingferry:pending::onboarding:x") == "2C95EEE8-EF06-517B-84FF-C06545C46D62")
    }

    @Test(
        "A UUID has 36 characters in either case.",
        arguments: [
            ("0c5a3b52-6E0B-4C8D-9F53-1D0A7E6C2B11", true), ("0c5a3b526E0B-4C8D-9F53-1D0A7E6C2B11-", false),
            ("0c5a3b52-6E0B-4C8D-9F53-1D0A7E6C2B1g", false), ("", false),
        ])
    func form(text: String, isUUID: Bool) {
        #expect(text.utf8.span.isUUID == isUUID)
    }
}
