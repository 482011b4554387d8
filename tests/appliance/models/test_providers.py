import subprocess
import sys

import pytest

from appliance.errors import RequestInvalid
from appliance.models.catalog import find_entry
from appliance.models.providers import ProviderKeys, choose_default, configured_models, find_model, has_key, open_model

NOTHING = ProviderKeys()


def test_nothing_heavy_is_loaded_before_a_model_is_opened():
    code = (
        "import sys; import appliance.models.base, appliance.models.catalog, appliance.models.providers, "
        "appliance.models.prices; "
        "print([name for name in ('anthropic', 'openai', 'httpx2', 'genai_prices', 'jsonschema_rs') "
        "if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (NOTHING, "autopilot"),
        (ProviderKeys(anthropic_key="a"), "claude-sonnet-5"),
        (ProviderKeys(openai_key="o"), "gpt-5.6-terra"),
        (ProviderKeys(anthropic_key="a", openai_key="o"), "claude-sonnet-5"),
        (ProviderKeys(compatible_base_url="http://x/v1", compatible_models=("qwen3:30b", "b")), "qwen3:30b"),
        (ProviderKeys(compatible_models=("qwen3:30b",)), "autopilot"),
    ],
)
def test_the_default_is_the_best_model_that_has_a_key(keys: ProviderKeys, name: str):
    assert choose_default(keys).name == name


def test_the_operator_may_name_the_default():
    assert choose_default(ProviderKeys(openai_key="o"), "gpt-5-mini").name == "gpt-5-mini"
    with pytest.raises(RequestInvalid, match="no model 'gpt-9'"):
        choose_default(NOTHING, "gpt-9")


def test_an_unknown_model_is_refused_with_those_that_can_be_used():
    keys = ProviderKeys(openai_key="o", compatible_base_url="http://x/v1", compatible_models=("qwen3:30b",))
    with pytest.raises(RequestInvalid) as refusal:
        find_model("claude-9", keys)
    assert refusal.value.location == ("body", "model")
    assert "gpt-5.6-sol" in refusal.value.message
    assert "qwen3:30b, autopilot" in refusal.value.message
    assert "claude-sonnet-5" not in refusal.value.message


@pytest.mark.parametrize(
    ("name", "setting"),
    [("claude-sonnet-5", "ANTHROPIC_API_KEY"), ("gpt-5.5", "OPENAI_API_KEY"), ("bu-max", "ANTHROPIC_API_KEY")],
)
def test_a_model_without_a_key_is_refused_by_the_setting_that_is_missing(name: str, setting: str):
    with pytest.raises(RequestInvalid, match=f"needs {setting}, which is not set"):
        find_model(name, NOTHING)
    entry = find_entry(name)
    assert entry is not None
    assert not has_key(entry, NOTHING)
    with pytest.raises(RequestInvalid, match=setting):
        open_model(entry, NOTHING)


def test_a_tier_uses_the_key_that_is_there():
    assert find_model("bu-ultra", ProviderKeys(openai_key="o")).name == "gpt-5.6-sol"


def test_autopilot_can_always_be_used():
    assert [entry.name for entry in configured_models(NOTHING)] == ["autopilot"]
    assert open_model(find_model("autopilot", NOTHING), NOTHING).name == "autopilot"


def test_only_the_clients_of_providers_with_a_key_are_loaded():
    code = """
import sys
from appliance.models.loading import load_kit
from appliance.models.providers import ProviderKeys, load_clients

print(load_clients(ProviderKeys()), load_clients(ProviderKeys(openai_key="x")))
load_kit("openai").result()
print(load_clients(ProviderKeys(openai_key="x")), "openai" in sys.modules, "anthropic" in sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["True", "False", "True", "True", "False"]


def test_keys_do_not_show_in_a_repr():
    keys = ProviderKeys(anthropic_key="sk-ant-1", openai_key="sk-2", compatible_key="sk-3")
    assert "sk-" not in repr(keys)


def test_a_run_that_ends_while_the_client_is_being_loaded_spoils_nothing_for_the_next():
    code = """
import asyncio
from appliance.errors import RunFailed
from appliance.models.providers import find_model, open_model
from tests.appliance.models.asking import CLAUDE, a_request, keys_for
from tests.stand_in import StandIn

async def main(stand_in):
    keys = keys_for(stand_in)
    first, second = (open_model(find_model(CLAUDE, keys), keys) for _ in range(2))
    try:
        await first.ask(a_request(timeout=0.001))
    except RunFailed as failed:
        print(failed.failure)
    print("done" in (await second.ask(a_request(timeout=60.0))).text)
    await second.close()

with StandIn() as stand_in:
    asyncio.run(main(stand_in))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["provider_timeout", "True"]
