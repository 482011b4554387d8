"""A machine that is never hard pressed, so that what a test finds in a feed does not depend on who works beside it."""

from pathlib import Path

CALM_MACHINE = Path(__file__).with_name("calm_machine.txt")
