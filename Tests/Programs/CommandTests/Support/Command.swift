import TestSupport

/// The program under test, which the package builds beside the tests.
let pingferryPath = builtProgram("pingferry")

/// The captures of the samples.
let samples = ["damaged", "firefox", "firefox-today", "focus", "leanplum", "shop", "webxr"]

/// The encrypted backup among the samples, and its password.
let sampleBackup = (name: "backup", password: "ferry")

/// The request logs of the samples.
let sampleLogs = ["browser.har", "pings.ndjson"]

/// Runs the program under test to its end.
@discardableResult
func pingferry(_ arguments: String...) throws -> FinishedProgram {
    try RunningProgram([pingferryPath] + arguments).finish()
}

/// Runs a shell command in which `"$0"` is the program under test and `"$1"` and so on are the arguments.
func shell(_ script: String, _ arguments: [String]) throws -> FinishedProgram {
    try RunningProgram(["bash", "-c", script, pingferryPath] + arguments).finish()
}
