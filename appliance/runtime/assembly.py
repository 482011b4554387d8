"""Puts the appliance together: settings in, everything running out, and exactly the reverse at the end."""

import asyncio
import fcntl
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from appliance.browser.policy import Policy
from appliance.displays.pool import SlotPool
from appliance.displays.supervisor import Supervisor
from appliance.errors import SettingsInvalid
from appliance.feed.hub import Hub
from appliance.feed.writer import Feed
from appliance.models.providers import ProviderKeys
from appliance.persistence.database import Database
from appliance.persistence.migration import migrate
from appliance.runtime.caps import Caps
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.equipment import Equipment
from appliance.runtime.expiry import Expiry
from appliance.runtime.folders import make_layout, prepare_data_dir
from appliance.runtime.links import Signer
from appliance.runtime.pressure import read_stall
from appliance.runtime.price_list import PriceList
from appliance.runtime.profiles import Profiles
from appliance.runtime.recovery import recover
from appliance.runtime.replays import Replays
from appliance.runtime.sealing import Seal
from appliance.runtime.secret import read_secret
from appliance.runtime.sessions import Sessions
from appliance.runtime.treasury import Treasury
from appliance.runtime.usage import Usage
from appliance.runtime.workspaces import Workspaces
from appliance.settings import Settings
from appliance.workspaces.sandboxes import Sandboxes

DEMO_PATHS = ("/demo/", "/static/css/demo.css")
"""What begins like this is all that the agent's browser may open of our own server."""


@dataclass(frozen=True)
class Appliance:
    """The running appliance, as the web layer sees it."""

    settings: Settings
    database: Database
    hub: Hub
    feed: Feed
    pool: SlotPool
    dispatcher: Dispatcher
    sessions: Sessions
    replays: Replays
    caps: Caps
    usage: Usage
    workspaces: Workspaces
    profiles: Profiles
    provider_keys: ProviderKeys
    signer: Signer
    secret: bytes


@asynccontextmanager
async def open_appliance(settings: Settings) -> AsyncGenerator[Appliance]:
    """Start everything in order of need and stop it in the reverse order.

    Raises SettingsInvalid when the data directory cannot be used or another server works in it.
    """
    prepare_data_dir(settings)
    async with AsyncExitStack() as undo:
        undo.enter_context(_sole_use(settings.data_dir))
        secret = read_secret(settings)
        await migrate(settings.sqlalchemy_url)
        database = Database(settings.sqlalchemy_url)
        await database.open()
        undo.push_async_callback(database.close)
        equipment = make_equipment(settings, database, secret)
        undo.push_async_callback(equipment.pool.close)
        # Found out, and told in the log, before the first run asks.
        checking = asyncio.create_task(equipment.sandboxes.why_not(), name="trying the sandbox")
        undo.push_async_callback(_give_up, checking)
        await recover(equipment)
        workspaces = Workspaces(settings, database)
        await workspaces.sweep()
        dispatcher = Dispatcher(equipment)
        dispatcher.start()
        undo.push_async_callback(dispatcher.close)
        expiry = Expiry(database, equipment.hub)
        expiry.start()
        undo.push_async_callback(expiry.close)
        rules = ModelRules(equipment.keys, settings.default_model, settings.cloud_max_cost_factor, equipment.prices)
        yield Appliance(
            settings=settings,
            database=database,
            hub=equipment.hub,
            feed=equipment.feed,
            pool=equipment.pool,
            dispatcher=dispatcher,
            sessions=Sessions(
                database,
                equipment.hub,
                dispatcher,
                rules,
                equipment.seal,
            ),
            caps=Caps(database),
            replays=Replays(settings, database, equipment.hub, dispatcher, rules),
            usage=Usage(database),
            workspaces=workspaces,
            profiles=equipment.profiles,
            provider_keys=equipment.keys,
            signer=Signer(secret),
            secret=secret,
        )


def make_keys(settings: Settings) -> ProviderKeys:
    """Return the providers' keys and addresses."""
    return ProviderKeys(
        anthropic_key=_reveal(settings.anthropic_api_key),
        anthropic_base_url=settings.anthropic_base_url,
        openai_key=_reveal(settings.openai_api_key),
        openai_base_url=settings.openai_base_url,
        compatible_base_url=settings.compatible_base_url,
        compatible_key=_reveal(settings.compatible_api_key),
        compatible_models=settings.compatible_models,
        compatible_context_window=settings.compatible_context_window,
    )


def make_equipment(settings: Settings, database: Database, secret: bytes) -> Equipment:
    """Return what runs are made with; nothing is started."""
    layout, hub, seal = make_layout(settings), Hub(), Seal(secret)
    own_ports = {settings.port}
    for base in (settings.bridge_port_base, settings.cdp_port_base):
        own_ports |= set(range(base, base + settings.max_concurrent_sessions))
    return Equipment(
        settings=settings,
        database=database,
        hub=hub,
        feed=Feed(database, hub),
        pool=SlotPool(Supervisor(layout.supervisor_socket), layout),
        keys=make_keys(settings),
        policy=Policy(
            own_ports=frozenset(own_ports), private_allowed=settings.browse_private, own_pages=_own_pages(settings)
        ),
        seal=seal,
        profiles=Profiles(database, seal),
        sandboxes=make_sandboxes(settings),
        treasury=Treasury(database),
        prices=PriceList(database),
        stall=partial(read_stall, settings.pressure_path),
    )


async def _give_up(task: "asyncio.Task[str | None]") -> None:
    """End a task that nobody waits for, with all that it has started."""
    task.cancel()
    await asyncio.wait({task})


def make_sandboxes(settings: Settings) -> Sandboxes:
    """Return what opens sandboxes for scripts, which can read nothing of this instance."""
    folder = settings.data_dir.absolute()
    private = (
        *(folder, folder / "pilothouse.db", folder / "secret.key", folder / ".env"),
        *(settings.socket_dir.absolute(), Path(".env").absolute()),
    )
    return Sandboxes(private, is_off=settings.sandbox == "off")


def _own_pages(settings: Settings) -> tuple[str, ...]:
    """Return where the demonstration site is found, by every address that people use for this server."""
    addresses = {
        settings.base_url,
        *(f"http://{host}:{settings.port}" for host in (settings.host, "127.0.0.1", "localhost")),
    }
    return tuple(address + path for address in sorted(addresses) for path in DEMO_PATHS)


@contextmanager
def _sole_use(data_dir: Path) -> Generator[None]:
    """Hold the data directory: a second server in it would end the first one's runs as leftovers."""
    with (data_dir / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SettingsInvalid(
                f"Another server works in DATA_DIR {data_dir.absolute()}; stop it or choose another folder."
            ) from error
        yield


def _reveal(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret is not None else ""
