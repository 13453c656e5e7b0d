"""`coordrooms doctor`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...doctor.daemons import daemon_findings
from ...doctor.files import file_findings
from ...doctor.findings import Finding
from ...doctor.hosts import host_findings
from ...hooks.daemons import AwayError
from ...hosts import NAMES, load
from ..failures import DONE, FAILED, UNREACHABLE, WrongUsageError
from ..outputs import Output
from ..texts import safe

HELP = "tell what is in place, what has been seen working, and what to do about the rest"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "host", metavar="HOST", nargs="?", help=f"only this host: {', '.join(NAMES)}"
    )
    parser.add_argument("--url", help="the daemon (default: COORDROOMS_URL, else its usual socket)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: Namespace, output: Output) -> int:
    host = None
    if arguments.host is not None:
        host = load(arguments.host)
        if host is None:
            hosts = ", ".join(NAMES)
            raise WrongUsageError(f"There is no host {arguments.host!r}. Hosts: {hosts}.")
    findings: list[Finding] = []
    away = False
    try:
        for finding in daemon_findings(arguments.url):
            _show(finding, output, findings)
    except AwayError:
        away = True
    for finding in (*file_findings(), *host_findings(host.name if host else None)):
        _show(finding, output, findings)
    failed = any(finding.ok is False for finding in findings)
    if output.as_json:
        checks = [finding.document() for finding in findings]
        output.document({"ok": not failed, "checks": checks})
    if away:
        return UNREACHABLE
    return FAILED if failed else DONE


def _show(finding: Finding, output: Output, findings: list[Finding]) -> None:
    findings.append(finding)
    if output.as_json:
        return
    style = output.style
    sign = {True: style.good("ok  "), False: style.bad("FAIL"), None: style.dim("-   ")}
    output.line(f"{sign[finding.ok]}  {finding.subject}: {safe(finding.text)}")
    if finding.ok is False and finding.remedy:
        output.line(f"      → {safe(finding.remedy)}")
