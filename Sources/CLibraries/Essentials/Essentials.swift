// The part of Foundation that the programs use. The SDK of macOS contains it only as a part of Foundation.

#if canImport(FoundationEssentials)
    @_exported import FoundationEssentials
#else
    @_exported import Foundation
#endif
