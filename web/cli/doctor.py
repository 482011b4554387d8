"""`pilothouse doctor`: whether this machine has what the appliance needs, one line each, with the remedy."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from appliance.browser.chromium import can_sandbox, find_chromium
from appliance.displays.probe import is_port_free
from appliance.errors import PilothouseError
from appliance.models.providers import configured_models
from appliance.runtime.assembly import make_keys, make_sandboxes
from appliance.runtime.folders import make_layout, prepare_data_dir
from appliance.runtime.secret import read_secret
from appliance.settings import Settings, load_settings
from web.cli.client import open_client


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` says what to do, or what it means, when it is not well."""

    what: str
    state: str
    remedy: str = ""
    is_fatal: bool = False


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor() -> None:
    """Look whether this machine has what is needed. The exit code is 1 when something is missing."""
    findings = list(examine(load_settings()))
    for finding in findings:
        sign = "FAIL" if finding.is_fatal else "note" if finding.remedy else "ok"
        print(f"{sign:5} {finding.what:12} {finding.state}{'. ' + finding.remedy if finding.remedy else ''}")
    if any(finding.is_fatal for finding in findings):
        sys.exit(1)


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each thing that is needed."""
    with open_client(settings.local_url, "") as client:
        is_running = client.is_up()
    yield from (_examine_program(name, package) for name, package in (("Xvfb", "xvfb"), ("x11vnc", "x11vnc")))
    yield _examine_websockify()
    yield _examine_chromium(settings)
    yield _examine_sandbox(settings)
    yield _examine_scripts(settings)
    yield _examine_data_dir(settings)
    yield Finding("server", f"running at {settings.local_url}") if is_running else _examine_port(settings)
    if not is_running:
        yield from _examine_slots(settings)
    yield _examine_models(settings)


def _examine_program(name: str, package: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, "not found", f"Install it: apt-get install {package}", is_fatal=True)
    return Finding(name, path)


def _examine_websockify() -> Finding:
    path = Path(sys.prefix) / "bin" / "websockify"
    if not os.access(path, os.X_OK):
        return Finding("websockify", "not found", "Install it: pip install websockify", is_fatal=True)
    return Finding("websockify", str(path))


def _examine_chromium(settings: Settings) -> Finding:
    def look() -> str:
        path = find_chromium(settings.chromium_path)
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
        return f"{path} ({answer.stdout.strip() or 'does not tell its version'})"

    return _attempt("Chromium", look)


def _examine_sandbox(settings: Settings) -> Finding:
    if settings.chromium_sandbox == "off":
        return Finding("sandbox", "switched off", "Set CHROMIUM_SANDBOX=auto to use it where it works.")
    if can_sandbox():
        return Finding("sandbox", "works")
    why = "Run as another user than root" if os.geteuid() == 0 else "Allow user namespaces on this machine"
    return Finding(
        "sandbox",
        "does not work here",
        f"Pages are less well contained. {why}.",
        is_fatal=settings.chromium_sandbox == "on",
    )


def _examine_scripts(settings: Settings) -> Finding:
    why_not = asyncio.run(make_sandboxes(settings).why_not())
    if why_not is None:
        return Finding("scripts", "can be shut in")
    return Finding("scripts", "not run here", f"The agent has no run_code_file. {why_not}")


def _examine_data_dir(settings: Settings) -> Finding:
    def look() -> str:
        prepare_data_dir(settings)
        read_secret(settings)
        free = shutil.disk_usage(settings.data_dir).free / 1e9
        return f"{settings.data_dir.absolute()} ({free:.1f} GB free)"

    return _attempt("DATA_DIR", look)


def _examine_port(settings: Settings) -> Finding:
    if is_port_free(settings.port):
        return Finding("PORT", f"{settings.port} is free")
    return Finding("PORT", f"{settings.port} is in use", "End the program that uses it or set PORT.", is_fatal=True)


def _examine_slots(settings: Settings) -> Iterator[Finding]:
    for number in range(settings.max_concurrent_sessions):
        slot = make_layout(settings).slot(number)
        taken = [str(port) for port in (slot.bridge_port, slot.cdp_port) if not is_port_free(port)]
        name = f"slot {number}"
        if taken:
            remedy = "End the program that uses it, or set BRIDGE_PORT_BASE or CDP_PORT_BASE."
            yield Finding(name, f"port {', '.join(taken)} in use", remedy, is_fatal=True)
        else:
            yield Finding(name, f"display :{slot.display}, ports {slot.bridge_port} and {slot.cdp_port} are free")


def _examine_models(settings: Settings) -> Finding:
    names = [entry.name for entry in configured_models(make_keys(settings))]
    if len(names) > 1:
        return Finding("models", f"{len(names)} can be used")
    return Finding("models", "autopilot only", "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or COMPATIBLE_BASE_URL for more.")


def _attempt(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, look())
    except PilothouseError as error:
        return Finding(what, "cannot be used", error.message, is_fatal=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(what, "cannot be used", str(error), is_fatal=True)
