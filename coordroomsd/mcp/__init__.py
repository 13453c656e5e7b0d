"""The Model Context Protocol: the tools, once, for the relay's socket and for `/mcp`.

`gateways.py` is the way in for `app.py`. Importing the SDK takes more than a second, so it imports
what needs the SDK (`servers.py`) in a thread, while the daemon is ready already.
"""
