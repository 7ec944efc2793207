"""Adds samples/python to the search path, so that the tests can import the package without installing it."""

import os
import sys

sys.dont_write_bytecode = True
FOLDER = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/python"))
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
