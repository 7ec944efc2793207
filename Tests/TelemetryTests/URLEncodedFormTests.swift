import Telemetry
import Testing

/// Tests reading the fields of forms.
@Suite struct URLEncodedFormTests {
    @Test(
        "Form fields are found and decoded.",
        arguments: [
            ("data=%7B%22a%22%3A1%7D&action=multi", "{\"a\":1}"), ("action=multi&data=a+b", "a b"), ("data", ""),
            ("data=", ""), ("data=a=b", "a=b"), ("xdata=1&data=2&data=3", "2"),
        ])
    func forms(form: String, value: String) {
        #expect(URLEncodedForm.value(of: "data", in: Array(form.utf8)) == Array(value.utf8))
    }

    @Test("A malformed or missing field has no value.", arguments: ["data=%", "data=%4", "data=%zz", "x=1"])
    func malformed(form: String) {
        #expect(URLEncodedForm.value(of: "data", in: Array(form.utf8)) == nil)
    }
}
