import CLibrary
import Console
import Files

// A program for tests, which is interrupted by a signal while it writes an output. `interrupted PATH` keeps an output
// open, and prints "ready" when the temporary file exists. `interrupted PATH again` creates, completes and discards
// outputs in a loop, and prints "ready" before the first. `interrupted PATH progress` keeps an output open, and shows
// the progress line "working" when the temporary file exists.
do {
    // All signals are blocked at the start, because the test starts the program from a dispatch thread.
    var all = sigset_t()
    sigfillset(&all)
    sigprocmask(SIG_UNBLOCK, &all, nil)
    let path = CommandLine.arguments[1]
    try PartialFiles.removeOnInterrupt(message: "pingferry: interrupted")
    if CommandLine.arguments.last == "again" {
        print("ready")
        fflush(nil)
        while true {
            // Most outputs are discarded, because only completed ones wait for the disk.
            for _ in 0..<200 { _ = try AtomicOutput(path: path, replacing: true) }
            let finished = try AtomicOutput(path: path, replacing: true)
            try finished.commit()
        }
    }
    let output = try AtomicOutput(path: path, replacing: false)
    try output.write([1, 2, 3].span)
    let progress = ProgressLine("working", isQuiet: false)
    if CommandLine.arguments.last == "progress" {
        progress.show("working")
    } else {
        print("ready")
        fflush(nil)
    }
    // The output is used in the loop, because a noncopyable value is destroyed after its last use.
    while true {
        sleep(60)
        try output.write([4].span)
        progress.clear()
    }
} catch {
    print(error)
    exit(1)
}
