#pragma once

// Returns the commit that the build defined as PINGFERRY_COMMIT, or NULL.
const char *_Nullable cversion_commit(void);
