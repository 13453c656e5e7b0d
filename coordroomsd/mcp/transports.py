"""What the two transports of the tools agree on."""

from __future__ import annotations

from typing import Final

# As large as a request over HTTP may be.
MESSAGE_MAX_BYTES: Final = 1 << 20
# Where a request to `/mcp` has its caller, in the scope.
CALLER: Final = "coordrooms.caller"
