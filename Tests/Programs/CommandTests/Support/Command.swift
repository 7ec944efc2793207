import TestSupport

/// The path of the program under test.
let pingferryPath = builtProgram("pingferry")

/// The names of the sample captures.
let samples = ["adjust", "damaged", "firefox", "firefox-today", "focus", "leanplum", "shop", "webxr"]

/// The name and the password of the encrypted sample backup.
let sampleBackup = (name: "backup", password: "ferry")

/// The names of the sample request logs.
let sampleLogs = ["browser.har", "pings.ndjson"]

/// Runs the program under test and waits for its end.
@discardableResult
func pingferry(_ arguments: String...) throws -> FinishedProgram {
    try RunningProgram([pingferryPath] + arguments).finish()
}

/// Runs a shell command in which `"$0"` is the program under test and `"$1"` and so on are the arguments.
func shell(_ script: String, _ arguments: [String]) throws -> FinishedProgram {
    try RunningProgram(["bash", "-c", script, pingferryPath] + arguments).finish()
}
