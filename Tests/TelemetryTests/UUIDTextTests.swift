import Telemetry
import Testing

/// UUIDs as systems write them.
@Suite struct UUIDTextTests {
    @Test("a name has the UUID that RFC 9562 gives it")
    func nameBased() {
        // The oracle is uuid.uuid5 of Python.
        #expect(UUIDText.nameBased("pingferry:pending::onboarding:x") == "2C95EEE8-EF06-517B-84FF-C06545C46D62")
    }

    @Test(
        "a UUID is 36 characters of either case",
        arguments: [
            ("0c5a3b52-6E0B-4C8D-9F53-1D0A7E6C2B11", true), ("0c5a3b526E0B-4C8D-9F53-1D0A7E6C2B11-", false),
            ("0c5a3b52-6E0B-4C8D-9F53-1D0A7E6C2B1g", false), ("", false),
        ])
    func form(text: String, isUUID: Bool) {
        #expect(text.utf8.span.isUUID == isUUID)
    }
}
