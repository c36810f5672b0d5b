"""The derivative rules that ship in libraries: where they are defined (`sites`), and calls of
the libraries' public functions that reach them (a table `calls_NAME` for each library)."""
