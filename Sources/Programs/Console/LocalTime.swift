import Glibc

/// The local time zone of the process.
public enum LocalTime {
    /// Sets the variable `TZ` to what it stands for where it is not set. Libraries ask for the local time of each member of a
    /// zip archive, and the C library would look at the file each time, to see whether it is another one.
    public static func settle() { setenv("TZ", ":/etc/localtime", 0) }
}
