"""The built-in demonstration site: a small shop that the first task is worked on. Public and read-only."""

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Template

from web.demo.catalogue import WARES, find_ware
from web.demo.linked_data import write_linked_data


@get("/", sync_to_thread=False)
def show_shop() -> Template:
    """Show the list of wares."""
    return Template("demo/shop.html", context={"wares": WARES})


@get("/wares/{slug:str}", sync_to_thread=False)
def show_ware(slug: FromPath[str]) -> Template:
    """Show one article; 404 for an unknown one."""
    ware = find_ware(slug)
    if ware is None:
        raise NotFoundException("The shop has no such article; see /demo/ for all it has.")
    context = {"ware": ware, "wares": WARES, "linked_data": write_linked_data(ware)}
    return Template("demo/ware.html", context=context)


demo_router = Router("/demo", route_handlers=[show_shop, show_ware], include_in_schema=False)
