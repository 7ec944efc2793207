#pragma once

// This module has no declarations. A program that links this module can run without /proc, and does not write to the system log.
