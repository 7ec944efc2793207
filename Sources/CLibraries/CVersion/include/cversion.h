#pragma once

// The commit that the build stated in PINGFERRY_COMMIT, or NULL.
const char *_Nullable cversion_commit(void);
