import Telemetry

/// The holds of Adjust's records, except for the holds that all systems share.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.3.
enum AdjustHold {
    static let attribution = Hold("attribution")
    static let consent = Hold("consent")
    static let disabled = Hold("disabled")
    static let signature = Hold("signature")
    static let superseded = Hold("superseded")

    static let codes = [
        HoldCode(attribution.code, "would count late, as an installation, a session or fraud"),
        HoldCode(consent.code, "contains a choice that the user may have changed since"),
        HoldCode(disabled.code, "is from an app whose SDK is switched off"),
        HoldCode(Hold.forgotten.code, "is from a device that the user asked Adjust to forget", isFinal: true),
        HoldCode(signature.code, "would lack the signature that the server may demand"),
        HoldCode(superseded.code, "was sent or dropped by another version of the SDK"),
    ]
}
