"""One file for each command; see `cli`."""
