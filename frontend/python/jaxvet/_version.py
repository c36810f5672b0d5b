"""The version of the package, also written into every document."""

VERSION = "0.1.0"
