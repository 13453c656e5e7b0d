"""Client library, command and MCP relay for coordroomsd."""

__version__ = "0.1.0"
