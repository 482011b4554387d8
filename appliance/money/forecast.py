"""What will have been spent at the end of a window if it goes on as it did until now."""

from datetime import datetime, timedelta
from decimal import Decimal

from appliance.money.windows import Window

_EARLY_SHARE = Decimal("0.05")
_CENT = Decimal("0.01")
_MOMENT = timedelta(microseconds=1)


def elapsed_share(window: Window, now: datetime) -> Decimal | None:
    """Return how much of the window is over, from 0 to 1; None for one that does not end."""
    if window.end is None:
        return None
    share = Decimal((now - window.start) // _MOMENT) / Decimal((window.end - window.start) // _MOMENT)
    return min(Decimal(1), max(Decimal(0), share))


def forecast(spent: Decimal, window: Window, now: datetime) -> Decimal | None:
    """Return the US dollars that will be spent by the end, to the cent, after what was spent so far.

    None while less than a twentieth of the window is over, and where there is no end.
    """
    share = elapsed_share(window, now)
    if share is None or share < _EARLY_SHARE:
        return None
    return max(spent, (spent / share).quantize(_CENT))
