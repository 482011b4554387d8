"""The money of a run, as far as those who spend it on other services than the model need to know it."""

from decimal import Decimal
from typing import Protocol


class Purse(Protocol):
    """The money of a run."""

    def money_left(self) -> Decimal:
        """Return the US dollars that may still be spent; infinite without a cap."""
        ...

    def charge_service(self, amount: Decimal) -> None:
        """Count what a service other than the model cost; a negative amount takes back."""
        ...


class OpenPurse:
    """A purse without a bottom that counts nothing."""

    def money_left(self) -> Decimal:
        """Return that there is no limit."""
        return Decimal("Infinity")

    def charge_service(self, amount: Decimal) -> None:
        """Count nothing."""
