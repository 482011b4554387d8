"""`python -m tests.stand_in --scenario FILE --port N [--log FILE] [--refuse PART …]`: the stand-in on its own."""

import argparse
import signal
import sys
import threading
from pathlib import Path

from tests.stand_in import Scenario, StandIn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", type=Path, required=True, help="JSON file; see scenario.py for its form")
    parser.add_argument("--port", type=int, default=0, help="port on loopback; 0 takes a free one, which is printed")
    parser.add_argument("--log", type=Path, help="file that gets one JSON line per request")
    parser.add_argument("--refuse", action="append", default=[], help="json_schema, tools, json_object or images")
    given = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with StandIn(Scenario.load(given.scenario), port=given.port, log=given.log, refuses=given.refuse) as stand_in:
        sys.stdout.write(f"The stand-in answers at {stand_in.anthropic_url}\n")
        sys.stdout.flush()
        ended.wait()


if __name__ == "__main__":
    main()
