"""One appliance and one scripted model server for all tests that leave them whole."""

from collections.abc import Iterator

import pytest
from browser_use_sdk.v3 import BrowserUse

from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance


@pytest.fixture(scope="session")
def stand_in() -> Iterator[StandIn]:
    """A model server; give each task a marker and its own scenario with `add`."""
    with StandIn() as stand_in:
        yield stand_in


@pytest.fixture(scope="session")
def provider_settings(stand_in: StandIn) -> dict[str, str]:
    """The settings that send every provider's requests to the stand-in."""
    return {
        "ANTHROPIC_API_KEY": "sk-ant-secret-of-the-tests",
        "ANTHROPIC_BASE_URL": stand_in.anthropic_url,
        "OPENAI_API_KEY": "sk-secret-of-the-tests",
        "OPENAI_BASE_URL": stand_in.openai_url,
        "COMPATIBLE_BASE_URL": stand_in.compatible_url,
        "COMPATIBLE_MODELS": "house-model",
    }


@pytest.fixture(scope="module")
def instance(provider_settings: dict[str, str]) -> Iterator[Instance]:
    """An appliance with two slots and every provider."""
    with Instance(provider_settings, slots=2) as instance:
        yield instance


@pytest.fixture
def client(instance: Instance) -> Iterator[BrowserUse]:
    """The unmodified client of the appliance."""
    client = BrowserUse(api_key=API_KEY, base_url=instance.api_url)
    yield client
    client.close()
