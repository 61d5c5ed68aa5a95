"""Test doubles for Sketchmark's own tests and for the tests of plug-ins."""
