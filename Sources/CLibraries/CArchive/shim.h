#ifndef PINGFERRY_CARCHIVE_SHIM_H
#define PINGFERRY_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

// libarchive's file types are macros with casts, which Swift does not import.

/// What an entry is, as far as captures have use for it.
enum carchive_type { carchive_file, carchive_folder, carchive_link, carchive_special };

/// What an entry is. A type that is not known is a file, as POSIX says: libarchive leaves the type out for the further parts
/// of a file that GNU tar has split (`M`).
static inline enum carchive_type carchive_entry_type(struct archive_entry *entry) {
    switch (archive_entry_filetype(entry)) {
    case AE_IFDIR: return carchive_folder;
    case AE_IFLNK: return carchive_link;
    case AE_IFIFO: case AE_IFCHR: case AE_IFBLK: case AE_IFSOCK: return carchive_special;
    default: return carchive_file;
    }
}

#endif
