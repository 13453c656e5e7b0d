"""The daemon as a process: its sockets, its signals, and its orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

import uvloop
from starlette.routing import Route

from coordroomsd import app
from coordroomsd.addresses import Listen
from coordroomsd.api.operations import OPERATIONS
from coordroomsd.api.pipeline import Api
from coordroomsd.config import Config
from coordroomsd.endings import Terminal, ending_signals, is_told_of_hang_ups
from coordroomsd.greeting import greeting
from coordroomsd.http.bounds import Bounds
from coordroomsd.http.calls import Calls
from coordroomsd.http.credentials import EnrolledTokens, NoTokens
from coordroomsd.http.guard import Guard, local_host, own_hosts
from coordroomsd.http.openapi import description
from coordroomsd.http.probes import probe_routes
from coordroomsd.http.readers import Readers
from coordroomsd.http.site import Site
from coordroomsd.http.tools import Tools
from coordroomsd.listeners import BACKLOG, open_listeners
from coordroomsd.logs import outputs
from coordroomsd.mcp.gateways import Gateway
from coordroomsd.page.keeping import Keeper
from coordroomsd.page.routes import operations_for_pages, page_routes
from coordroomsd.page.sessions import Sessions
from coordroomsd.page_listener import HOST, PageListener
from coordroomsd.reloading import Reloading
from coordroomsd.serving import Server
from coordroomsd.settings import Limits
from coordroomsd.systemd import Notifier


def serve(config: Config, read_again: Callable[[], Config]) -> NoReturn:
    """Run the daemon until a signal asks it to end, and end the process.

    SIGHUP asks for the configuration to be read again.
    Raises StoreError or SocketError when it cannot start or go on.
    """
    logs = outputs.begin(config.log, os.environ)
    _allow_many_descriptors()
    _leave_no_core()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(_run(config, read_again, logs))
    # All is closed. An import may still be under way, and the interpreter would take itself apart:
    # on a busy machine that is seconds in which nothing is left to do.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _allow_many_descriptors() -> None:
    """Each parked call holds one; the soft limit, often 1024, is meant for users of select(2)."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # macOS names no limit, and has one
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _leave_no_core() -> None:
    """An image of the memory holds tokens and bodies. `prlimit --core=` lets one be made."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def _collect_garbage_seldom() -> None:
    """Nearly nothing here is in a cycle: at the usual thresholds looking for it takes an eighth.

    What the start has made stays, and is not looked at again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


async def _run(config: Config, read_again: Callable[[], Config], logs: outputs.Logs) -> int:
    asyncio.get_running_loop().set_exception_handler(outputs.told_by_loop)
    manager = Notifier()
    reloading = Reloading(config, read_again, manager)
    ending = Ending(manager, reloading)
    try:
        async with app.opened(config) as daemon:
            with contextlib.ExitStack() as open_sockets:
                listeners = open_listeners(config, open_sockets)
                services = daemon.api.services
                gateway = Gateway(
                    daemon.api, services.connections, services.refusals, services.tracing
                )
                bounds = Bounds(services.connections, Readers(), services.refusals)
                keep_within(bounds, gateway, config.limits)
                guard = _guard(config)
                server = _server(config, daemon, gateway, guard, bounds, ending, open_sockets)
                daemon.failed.add_done_callback(lambda _: ending.begin())
                await gateway.start(listeners.mcp)
                ending.is_starting = False
                _collect_garbage_seldom()
                if not manager.is_there:
                    sys.stdout.write(greeting(config))
                sys.stdout.flush()
                status = f"serves {config.server.socket}"
                manager.ready(status)
                adopt = functools.partial(_adopt, daemon, gateway, guard, bounds)
                beside = [
                    asyncio.create_task(_stay_alive(manager), name="watchdog"),
                    asyncio.create_task(reloading.run(adopt, status), name="reloading"),
                    asyncio.create_task(logs.report_repeats_regularly(), name="log"),
                ]
                async with asyncio.TaskGroup() as serving:
                    serving.create_task(gateway.run(), name="mcp")
                    serving.create_task(server.serve(listeners.http), name="http")
                for task in beside:
                    task.cancel()
                await asyncio.wait(beside)
            if daemon.failed.done():
                daemon.failed.result()
    except asyncio.CancelledError:
        if not ending.has_begun.is_set():
            raise
    return 0


class Ending:
    """The wish that the daemon ends, by a signal or because it cannot go on.

    While the daemon is starting it cancels the start, which leaves nothing behind.
    """

    def __init__(self, manager: Notifier, reloading: Reloading) -> None:
        self._manager = manager
        self._reloading = reloading
        self._terminal = Terminal()
        self.has_begun = asyncio.Event()
        self.is_starting = True
        self._task = asyncio.current_task()
        for number in ending_signals():
            asyncio.get_running_loop().add_signal_handler(number, self.begin)
        if is_told_of_hang_ups():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._hung_up)

    def begin(self) -> None:
        """May be called again and again."""
        if self.has_begun.is_set():
            return
        self.has_begun.set()
        self._manager.stopping()
        if self.is_starting and self._task:
            self._task.cancel()

    def _hung_up(self) -> None:
        if self._terminal.is_gone():
            self.begin()
        else:
            self._reloading.ask()


def _server(
    config: Config,
    daemon: app.Daemon,
    gateway: Gateway,
    guard: Guard | None,
    bounds: Bounds,
    ending: Ending,
    open_sockets: contextlib.ExitStack,
) -> Server:
    services, tokens = daemon.api.services, EnrolledTokens(daemon.people)
    keeper = Keeper(config.state_dir)
    sessions = Sessions(daemon.people, services.clock, services.new_secret, keeper, services.hub)

    async def serve_page(listener: socket.socket, port: int) -> None:
        guard = Guard(own_hosts(HOST, port, ()))
        api = Api(services, operations_for_pages(OPERATIONS))
        calls = Calls(api, NoTokens(), daemon.metrics, guard, sessions, bounds)
        routes = page_routes(sessions, services, NoTokens(), page.origin)
        await server.serve_also(listener, calls, Site(guard, routes, services.refusals))

    page = PageListener(keeper, serve_page, BACKLOG, open_sockets)
    local = _local_origin(config.server.listen)

    async def origin() -> str:
        return local or await page.origin()

    routes = [
        *probe_routes(daemon.ready, description(OPERATIONS), daemon.metrics, tokens),
        Route("/mcp", Tools(tokens, gateway.http)),
        *page_routes(sessions, services, tokens, origin),
    ]
    calls = Calls(daemon.api, tokens, daemon.metrics, guard, sessions, bounds)
    site = Site(guard, routes, services.refusals)
    server = Server(calls, site, daemon.hub, gateway, ending.has_begun)
    if local is None:
        server.when_serving(page.resume)
    daemon.metrics.observe_by(
        "connections",
        "Open connections, by what is spoken on them",
        "protocol",
        lambda: {"http": len(server.server_state.connections), "mcp": gateway.sessions},
    )
    daemon.metrics.observe(
        "unread_bytes",
        "Answers over HTTP that wait in memory for a slow reader",
        bounds.readers.unread_bytes,
    )
    daemon.metrics.observe(
        "unfinished_bytes",
        "What has come over HTTP of requests that are not complete",
        bounds.senders.unfinished_bytes,
    )
    return server


def _local_origin(listen: Listen | None) -> str | None:
    """Where a browser of this host finds the TCP listener, if it is safe to have a session there.

    Browsers tell whence a request comes at loopback addresses and over HTTPS alone.
    """
    host = None if listen is None else local_host(str(listen).rpartition(":")[0])
    return None if listen is None or host is None else f"http://{host}:{listen.port}"


def _guard(config: Config) -> Guard | None:
    """Only TCP needs one."""
    if config.server.listen is None:
        return None
    return Guard(_own_hosts(config))


def _own_hosts(config: Config) -> list[str]:
    host, _, port = str(config.server.listen).rpartition(":")
    return own_hosts(host, int(port), config.server.hosts)


def keep_within(bounds: Bounds, gateway: Gateway, limits: Limits) -> None:
    bounds.request_within_s = limits.request_within_s
    bounds.readers.within_s = gateway.answer_within_s = limits.answer_within_s
    bounds.readers.most_bytes = limits.max_unread_mib * 1024 * 1024
    bounds.senders.most_bytes = limits.max_unfinished_mib * 1024 * 1024


def _adopt(
    daemon: app.Daemon, gateway: Gateway, guard: Guard | None, bounds: Bounds, config: Config
) -> None:
    """Put into force what RELOADED keys say now."""
    daemon.adopt(config)
    keep_within(bounds, gateway, config.limits)
    if guard:
        guard.let_in(_own_hosts(config))
    outputs.set_level(config.log.level)


async def _stay_alive(manager: Notifier) -> None:
    """Tell the watchdog that the loop turns. Runs until cancelled."""
    while manager.watchdog_s:
        manager.alive()
        await asyncio.sleep(manager.watchdog_s / 3)
