"""`pilothouse cap`: what keys, members, teams and the instance may spend. Changes count at once, server or not."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from appliance.errors import PilothouseError
from appliance.money.caps import Gauge
from appliance.money.sentences import say_money, say_reset, say_whose
from appliance.persistence.columns import utc_now
from appliance.runtime.caps import Caps, CapWish
from appliance.settings import load_settings
from appliance.words import CapScope, Period
from web.cli.access import opened_database

T = TypeVar("T")

_Id = Annotated[str, typer.Argument(help="The id of the cap, as pilothouse cap list has it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    caps = typer.Typer(help="Caps on spending.", no_args_is_help=True, callback=_describe)
    caps.command(name="list")(list_all)
    caps.command(name="set")(set_one)
    caps.command(name="raise")(raise_one)
    caps.command()(remove)
    app.add_typer(caps, name="cap")


def list_all() -> None:
    """Print all caps and how they stand."""
    gauges = asyncio.run(_with(lambda caps: caps.list_gauges()))
    if not gauges:
        print("Nothing is capped; pilothouse cap set makes a cap.")
    for gauge in gauges:
        print(_tell(gauge))


def set_one(
    scope: Annotated[CapScope, typer.Argument(help="Whose spending.")],
    period: Annotated[Period, typer.Argument(help="In how long.")],
    subject: Annotated[str, typer.Option("--id", help="The id of the key, member or team.")] = "",
    hard: Annotated[str, typer.Option(help="US dollars at which nothing more is spent.")] = "",
    soft: Annotated[str, typer.Option(help="US dollars from which on people are told.")] = "",
) -> None:
    """Make a cap, or change its limits."""
    wish = CapWish(
        scope, period, _amount(hard, "--hard"), _amount(soft, "--soft"), _read_id(subject) if subject else None
    )
    print(_tell(asyncio.run(_with(lambda caps: caps.set(wish)))))


def raise_one(
    cap: _Id,
    amount: Annotated[str, typer.Argument(help="US dollars more.")],
    days: Annotated[int, typer.Option(min=1, max=1000, help="For how many days from now on.")] = 1,
) -> None:
    """Raise a cap for a while."""
    cap_id, more, until = _read_id(cap), _amount(amount, "AMOUNT") or Decimal(0), utc_now() + timedelta(days=days)
    print(_tell(asyncio.run(_with(lambda caps: caps.raise_until(cap_id, more, until)))))


def remove(cap: _Id) -> None:
    """Take a cap away."""
    cap_id = _read_id(cap)
    asyncio.run(_with(lambda caps: caps.remove(cap_id)))
    print("The cap is removed.")


async def _with(work: Callable[[Caps], Awaitable[T]]) -> T:
    async with opened_database(load_settings()) as database:
        return await work(Caps(database))


def _tell(gauge: Gauge) -> str:
    cap, kind = gauge.cap, "soft" if gauge.hard is None else "hard"
    amounts = f"{say_money(gauge.spent)} of {say_money(gauge.limit)} ({kind})"
    return f"{cap.id}  {say_whose(cap)}, {cap.period}: {amounts}; {say_reset(gauge)}"


def _read_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise PilothouseError(f"{text[:60]!r} is no id; see pilothouse cap list and pilothouse team list.") from error


def _amount(text: str, option: str) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except InvalidOperation as error:
        raise PilothouseError(f"{option} is an amount in US dollars, such as 5 or 2.50; not {text[:40]!r}.") from error


def _describe() -> None:
    """Caps on spending."""
