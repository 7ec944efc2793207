#pragma once

// This module has no declarations. A program that links it runs without /proc.
