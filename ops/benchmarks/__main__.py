"""Runs the benchmarks named on the command line, all of them without a name, and prints one table."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ops.benchmarks.api import measure_api
from ops.benchmarks.extract import measure_extract
from ops.benchmarks.files import measure_files
from ops.benchmarks.measures import Figure, measure_idle, measure_steps
from ops.benchmarks.observe import measure_observe
from ops.benchmarks.profiles import measure_profiles
from ops.benchmarks.soak import measure_soak
from ops.benchmarks.start import measure_start
from ops.benchmarks.store import measure_store
from ops.benchmarks.together import measure_together
from ops.benchmarks.tokens import measure_tokens
from ops.benchmarks.warm import measure_warm

BENCHMARKS: dict[str, Callable[[], list[Figure]]] = {
    "steps": measure_steps,
    "start": measure_start,
    "warm": measure_warm,
    "idle": measure_idle,
    "observe": measure_observe,
    "tokens": measure_tokens,
    "store": measure_store,
    "extract": measure_extract,
    "together": measure_together,
    "api": measure_api,
    "files": measure_files,
    "profiles": measure_profiles,
    "soak": measure_soak,
}


def print_table(results: dict[str, list[Figure]]) -> None:
    """Print every figure with its limit, its reference and the ratio to it."""
    table = Table("benchmark", "figure")
    for name in ("value", "limit", "bare script", "ratio"):
        table.add_column(name, justify="right")
    for benchmark, figures in results.items():
        for figure in figures:
            table.add_row(
                benchmark,
                figure.name,
                f"{figure.value:.3g} {figure.unit}" if figure.value < 1000 else f"{figure.value:.0f} {figure.unit}",
                "" if figure.limit is None else f"{figure.limit:g}",
                "" if figure.reference is None else f"{figure.reference:.3g}",
                "" if not figure.reference else f"{figure.value / figure.reference:.2f}",
            )
    Console().print(table)


def main() -> None:
    """Parse the arguments, measure, print, and write JSON where asked."""
    parser = argparse.ArgumentParser(prog="ops/bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], help="which to run; all when none is named")
    parser.add_argument("--json", type=Path, help="file for the figures as JSON")
    arguments = parser.parse_args()
    results = {name: BENCHMARKS[name]() for name in arguments.names or BENCHMARKS}
    print_table(results)
    if arguments.json:
        figures = {name: [figure.to_json() for figure in values] for name, values in results.items()}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
