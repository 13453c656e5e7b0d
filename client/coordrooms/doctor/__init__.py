"""`coordrooms doctor`: is everything in place, and has it been seen working?

findings        a line of the report
daemons         the daemon: reachable, of this version, its socket
files           folders of ours that others may look into
hosts           each host that is set up: registered, trusted, fired
servers         the MCP server: starts, and lists its tools
"""
