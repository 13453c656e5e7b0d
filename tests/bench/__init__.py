"""Measurements: the daemon beside floors and neighbours, all of it in one run on one machine."""
