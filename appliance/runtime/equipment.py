"""What dispatcher and workers work with; made once by the assembly."""

from collections.abc import Callable
from dataclasses import dataclass

from appliance.browser.policy import Policy
from appliance.displays.pool import SlotPool
from appliance.feed.hub import Hub
from appliance.feed.writer import Feed
from appliance.models.providers import ProviderKeys
from appliance.persistence.database import Database
from appliance.runtime.price_list import PriceList
from appliance.runtime.profiles import Profiles
from appliance.runtime.sealing import Seal
from appliance.runtime.treasury import Treasury
from appliance.settings import Settings
from appliance.workspaces.sandboxes import Sandboxes


@dataclass(frozen=True)
class Equipment:
    """The parts of the machine that a run is made with.

    `stall` returns the share of time in which work waits for a processor.
    """

    settings: Settings
    database: Database
    hub: Hub
    feed: Feed
    pool: SlotPool
    keys: ProviderKeys
    policy: Policy
    seal: Seal
    profiles: Profiles
    sandboxes: Sandboxes
    treasury: Treasury
    prices: PriceList
    stall: Callable[[], float]
