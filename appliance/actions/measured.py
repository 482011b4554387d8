"""Receipts made from measured effects, in the same words for every action."""

from dataclasses import replace

from appliance.actions.base import ActionContext, Receipt
from appliance.browser.effects import SETTLE_SECONDS, Effect, Watch
from appliance.browser.element import Element
from appliance.browser.observation import ElementView
from appliance.words import ReceiptStatus

MAX_LENGTH = 900


def named(element: Element) -> str:
    """Return what a person would call the element, such as: button "Save" [12]."""
    return said(element.view)


def said(view: ElementView) -> str:
    """Return what a person would call the element that is shown so."""
    word = view.role or view.tag
    return f'{word} "{view.name[:60]}" [{view.index}]' if view.name else f"{word} [{view.index}]"


async def finish(
    context: ActionContext, watch: Watch, settle_seconds: float = SETTLE_SECONDS, *, at_least: float = 0.0
) -> Effect:
    """Return the effect of an action; when a dialog interrupted it, the watch is kept for the dialog's answer."""
    effect = await watch.finish(settle_seconds, at_least=at_least)
    context.watch = watch if effect.needs_decision else None
    return effect


def not_sent(effect: Effect) -> Effect:
    """Return the effect of a try to send a form with the browser's complaint as a fact, if there is one."""
    if not effect.invalid or effect.ends_chain:
        return effect
    return replace(effect, facts=(f"the form was not sent, {effect.invalid}", *effect.facts), is_visible=True)


def receipt(lead: str, effect: Effect, *, always_counts: bool = False) -> Receipt:
    """Return the receipt of an action that was done: `lead` says what, the effect says what came of it.

    `always_counts` is for targets whose effect cannot be seen in the page's structure, such as drawings.
    """
    if effect.needs_decision:
        return Receipt(ReceiptStatus.NEEDS_DECISION, sentence(lead, effect.facts), ends_chain=True)
    if not effect.is_visible and not always_counts:
        return Receipt(ReceiptStatus.NO_EFFECT, f"{lead}: no visible effect.")
    facts = effect.facts or ("the page changed" if effect.is_visible else "an effect cannot be measured here",)
    return Receipt(ReceiptStatus.OK, sentence(lead, facts), ends_chain=effect.ends_chain)


def sentence(lead: str, facts: tuple[str, ...] | list[str]) -> str:
    """Return lead and facts as one line of bounded length."""
    text = f"{lead}: {'; '.join(facts)}." if facts else f"{lead}."
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"
