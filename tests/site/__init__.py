"""A web site for tests and benchmarks, served on several hosts of the loopback network."""

from tests.site.server import Site as Site
