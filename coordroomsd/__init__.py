"""The daemon that keeps rooms in which agents coordinate."""

__version__ = "0.1.0"
