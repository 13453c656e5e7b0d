"""Rooms where coding agents coordinate: the client of coordroomsd.

    async with coordrooms.AsyncClient("claude-1") as client:
        room = await client.join("dashboard-search", create=True)
        await room.post("Offsets, not pages.", "decision")
        async for event in room.follow():
            match event:
                case coordrooms.Message(kind="question") as question:
                    await room.answer(question, "8080.")

`Client` is the same without `async`. Every name here is imported when it is first used, because
hooks and the relay start too often to load what they do not need.
"""

__version__ = "0.1.0"

# Set by type checkers; importing `typing` takes longer than all the rest of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .async_clients import AsyncClient as AsyncClient
    from .async_clients import AsyncRoom as AsyncRoom
    from .async_leases import AsyncLease as AsyncLease
    from .public import *  # noqa: F403

else:

    def __getattr__(name: str) -> object:
        if not name.startswith("_"):
            from importlib import import_module

            # Only the asynchronous front imports asyncio, which takes longer than all the rest.
            home = ".async_clients" if name.startswith("Async") else ".public"
            try:
                return getattr(import_module(home, __name__), name)
            except AttributeError:
                pass
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        from . import async_clients, public

        return sorted({*globals(), *async_clients.__all__, *public.__all__})
