"""What the two transports of the tools agree on."""

from __future__ import annotations

from typing import Final

# As large as a request over HTTP may be.
MESSAGE_MAX_BYTES: Final = 1 << 20
# The first of JSON-RPC's codes that a server may give a meaning of its own.
SERVER_ERROR: Final = -32000
# Where a request to `/mcp` has its caller, in the scope.
CALLER: Final = "coordrooms.caller"
