from datetime import UTC, datetime
from decimal import Decimal

import pytest

from appliance.events import TokenCount
from appliance.models.catalog import AUTOPILOT, find_entry
from appliance.models.prices import is_priced, list_version, price
from appliance.persistence.records import PriceRecord
from tests.appliance.models.asking import GPT, a_request, ask_both_ways, opened
from tests.stand_in import StandIn


def cost(name: str, tokens: TokenCount) -> Decimal | None:
    entry = find_entry(name, ("qwen3:30b",))
    assert entry is not None
    return price(entry, tokens)


def test_cached_tokens_are_charged_once_and_at_their_own_rate():
    # 2,000 tokens in all at 3 / 0.30 / 3.75 per million, of which 500 read from the cache and 300 written to it.
    assert cost("claude-sonnet-4.6", TokenCount(input=1_200, cache_read=500, cache_write=300)) == Decimal("0.004875")


def test_the_long_context_tier_counts_cached_tokens_too():
    short = cost("gpt-5.6-sol", TokenCount(input=1_000, cache_read=270_000))
    long = cost("gpt-5.6-sol", TokenCount(input=1_000, cache_read=280_000))
    assert short == Decimal("0.112")
    assert long == Decimal("0.232")


def test_each_class_adds_up():
    whole = cost("claude-opus-4.7", TokenCount(100, 200, 300, 400))
    parts = [TokenCount(100), TokenCount(0, 200), TokenCount(0, 0, 300), TokenCount(output=400)]
    assert whole == sum(cost("claude-opus-4.7", part) or 0 for part in parts)


@pytest.mark.parametrize("name", ["claude-mythos-5", "qwen3:30b"])
def test_an_unknown_price_is_unknown_and_not_nothing(name: str):
    assert cost(name, TokenCount(input=1_000_000)) is None
    entry = find_entry(name, ("qwen3:30b",))
    assert entry is not None
    assert not is_priced(entry)


def test_autopilot_costs_nothing():
    assert price(AUTOPILOT, TokenCount(input=5)) == 0
    assert is_priced(AUTOPILOT)


async def test_what_a_provider_counts_is_charged_by_class_and_once():
    # The wire formats count differently: Anthropic's input leaves the cached tokens out, OpenAI's has them in it.
    asked = {"claude-sonnet-4.6": Decimal("0.004875"), "gpt-5.6-terra": Decimal("0.00325")}
    usage = {"input": 1_200, "cache_read": 500, "cache_write": 300, "output": 0}
    for name, expected in asked.items():
        async with StandIn([{"reply": {"wait": {}}, "__usage__": usage}]) as stand_in, opened(name, stand_in) as model:
            whole, streamed, _ = await ask_both_ways(model, a_request())
        assert whole.tokens == streamed.tokens == TokenCount(1_200, 500, 300, 0)
        assert cost(name, whole.tokens) == expected


async def test_the_classes_of_a_long_cached_request_sum_up_to_what_was_sent():
    usage = {"input": 1_056, "cache_read": 50_176, "cache_write": 0, "output": 20}
    async with StandIn([{"reply": {"wait": {}}, "__usage__": usage}]) as stand_in, opened(GPT, stand_in) as model:
        tokens = (await model.ask(a_request())).tokens
    assert tokens.input + tokens.cache_read + tokens.cache_write == 51_232
    assert tokens.cache_read == 50_176


def own(**values: Decimal | int | str) -> PriceRecord:
    base = {"model": "qwen3:30b", "cache_read_usd": Decimal("0.1"), "cache_write_usd": Decimal(2)}
    tier = {"long_from": None, "long_factor": None, "updated_at": datetime(2026, 7, 1, tzinfo=UTC)}
    return PriceRecord(**{**base, "input_usd": Decimal(1), "output_usd": Decimal(4), **tier, **values})


def test_what_the_operator_says_wins_over_the_list_and_prices_a_server_of_ones_own():
    for name in ("qwen3:30b", "claude-opus-4.7"):
        entry = find_entry(name, ("qwen3:30b",))
        assert entry is not None
        tokens = TokenCount(input=1_000, cache_read=100, cache_write=10, output=1)
        assert price(entry, tokens, own()) == Decimal("0.001034")
        assert is_priced(entry, own())
    assert price(AUTOPILOT, TokenCount(input=5), own()) == 0


def test_a_long_prompt_costs_so_many_times_as_much_in_every_class():
    entry = find_entry("claude-opus-4.7")
    assert entry is not None
    tier = own(long_from=1_000, long_factor=Decimal("1.5"))
    short, long = TokenCount(990, 9, 0, 5_000), TokenCount(990, 9, 1, 5_000)
    assert price(entry, short, tier) == price(entry, short, own())
    assert price(entry, long, tier) == (price(entry, long, own()) or 0) * Decimal("1.5")


def test_two_short_calls_never_cost_what_one_long_one_does():
    one, two = TokenCount(input=300_000), TokenCount(input=150_000)
    assert (cost("gpt-5.6-sol", one) or 0) > 2 * (cost("gpt-5.6-sol", two) or 0)


def test_the_list_says_which_it_is():
    assert list_version().startswith("genai-prices ")
