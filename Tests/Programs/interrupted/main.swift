import Files
import Glibc

// Holds an output open until a signal comes: `interrupted PATH` prints "ready" once the temporary exists.
do {
    // The test starts this from a dispatch thread, whose signal mask (everything blocked) is inherited.
    var all = sigset_t()
    sigfillset(&all)
    sigprocmask(SIG_UNBLOCK, &all, nil)
    let output = try AtomicOutput(path: CommandLine.arguments[1], replacing: false)
    try PartialFiles.removeOnInterrupt(message: "pingferry: interrupted")
    try output.write([1, 2, 3].span)
    print("ready")
    fflush(nil)
    // Used in the loop: a non-copyable value ends with its last use where its scope never does.
    while true {
        sleep(60)
        try output.write([4].span)
    }
} catch {
    print(error)
    exit(1)
}
