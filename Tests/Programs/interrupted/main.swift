import Console
import Files
import Glibc

// Waits for a signal that removes an output's temporary.
// `interrupted PATH` holds an output open, and prints "ready" once its temporary exists.
// `interrupted PATH again` begins, finishes and drops outputs without end, and prints "ready" before the first.
// `interrupted PATH progress` holds an output open, and shows a progress line "working" once its temporary exists.
do {
    // The test starts this from a dispatch thread, whose signal mask (everything blocked) is inherited.
    var all = sigset_t()
    sigfillset(&all)
    sigprocmask(SIG_UNBLOCK, &all, nil)
    let path = CommandLine.arguments[1]
    try PartialFiles.removeOnInterrupt(message: "pingferry: interrupted")
    if CommandLine.arguments.last == "again" {
        print("ready")
        fflush(nil)
        while true {
            // Many more are dropped than finished: those do not wait for the disk.
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
    // Used in the loop: a non-copyable value ends with its last use where its scope never does.
    while true {
        sleep(60)
        try output.write([4].span)
        progress.clear()
    }
} catch {
    print(error)
    exit(1)
}
