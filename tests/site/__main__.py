"""Serves the test site in the foreground: `python -m tests.site --port 9900`."""

import argparse
import threading

from tests.site.server import Site

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    with Site(parser.parse_args().port) as site:
        print(site.url("/"), flush=True)  # noqa: T201 - for whoever started it
        threading.Event().wait()
