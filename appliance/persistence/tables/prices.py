"""One row per model whose price the operator has set; it wins over the price list. Dollars for a million tokens."""

from sqlalchemy import Column, Integer, String, Table

from appliance.persistence.columns import ExactDecimal, Moment
from appliance.persistence.tables.base import metadata

prices = Table(
    "prices",
    metadata,
    Column("model", String(200), primary_key=True),
    Column("input_usd", ExactDecimal, nullable=False),
    Column("cache_read_usd", ExactDecimal, nullable=False),
    Column("cache_write_usd", ExactDecimal, nullable=False),
    Column("output_usd", ExactDecimal, nullable=False),
    Column("long_from", Integer),
    Column("long_factor", ExactDecimal),
    Column("updated_at", Moment, nullable=False),
)
