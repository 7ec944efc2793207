#ifndef PINGFERRY_CARCHIVE_SHIM_H
#define PINGFERRY_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

// The file types of libarchive are macros with casts, which Swift does not import.

/// The file types of entries that are distinguished in captures.
enum carchive_type { carchive_file, carchive_folder, carchive_link, carchive_special };

/// Returns the file type of an entry. Entries of unknown types are files, as POSIX requires. libarchive sets no type
/// for the second and later parts of a file that GNU tar has split (type flag `M`).
static inline enum carchive_type carchive_entry_type(struct archive_entry *entry) {
    switch (archive_entry_filetype(entry)) {
    case AE_IFDIR: return carchive_folder;
    case AE_IFLNK: return carchive_link;
    case AE_IFIFO: case AE_IFCHR: case AE_IFBLK: case AE_IFSOCK: return carchive_special;
    default: return carchive_file;
    }
}

#endif
