"""Settings, read once from the environment, `.env` files and `NAME_FILE` secrets, and passed on as one frozen value."""

import os
from collections.abc import Mapping
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.sources import DotEnvSettingsSource

from appliance.errors import SettingsInvalid

NameList = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """Every setting with its default; the description of a field is its line in the settings table."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", case_sensitive=False)

    data_dir: Path = Field(Path("data"), description="Folder that holds everything worth keeping.")
    run_dir: Path | None = Field(None, description="Folder for sockets; by default one in /tmp for user and port.")
    host: str = Field("127.0.0.1", description="Address the server listens on; 0.0.0.0 in the image.")
    port: int = Field(8420, ge=1, le=65535, description="Port the server listens on.")
    public_url: str = Field("", description="Address people reach the server at; by default http://HOST:PORT.")
    trusted_proxies: NameList = Field((), description="Addresses or networks whose forwarded headers are believed.")
    api_key: SecretStr | None = Field(None, description="Bootstrap API key with full scope.")
    admin_email: str = Field("", description="E-mail address of the administrator made at first start.")
    admin_password: SecretStr | None = Field(None, description="Password of that administrator.")
    secret_key: SecretStr | None = Field(
        None, description="Key for cookies and links; by default made and kept in DATA_DIR."
    )
    database_url: str = Field("", description="Database; by default SQLite in DATA_DIR.")
    anthropic_api_key: SecretStr | None = Field(None, description="Key for Anthropic models.")
    anthropic_base_url: str = Field("", description="Address of the Anthropic API, if not the usual one.")
    openai_api_key: SecretStr | None = Field(None, description="Key for OpenAI models.")
    openai_base_url: str = Field("", description="Address of the OpenAI API, if not the usual one.")
    compatible_base_url: str = Field("", description="Address of a server that speaks OpenAI's chat API.")
    compatible_api_key: SecretStr | None = Field(None, description="Key for that server, if it wants one.")
    compatible_models: NameList = Field((), description="Names of the models that server has.")
    compatible_context_window: int = Field(
        0, ge=0, description="Tokens that those models read in one request; 0 for unknown."
    )
    capsolver_api_key: SecretStr | None = Field(
        None, description="Key for CapSolver; with it the agent may have captchas solved, which costs money."
    )
    capsolver_base_url: str = Field("", description="Address of the CapSolver API, if not the usual one.")
    captcha_max_cost_usd: Decimal = Field(
        Decimal("0.03"), ge=0, description="Most US dollars that one run may spend on captchas."
    )
    default_model: str = Field("", description="Model used when a task names none; by default the best that has a key.")
    reviewer: bool = Field(
        True, description="Have the model check each finished answer against its task; off saves these calls."
    )
    max_concurrent_sessions: int = Field(1, ge=1, le=64, description="Number of slots: how many browsers work at once.")
    warm_slots: int = Field(
        0, ge=0, le=1, description="1 lets a blank browser wait on a free slot, so that the next run starts sooner."
    )
    keep_alive_idle_timeout: float = Field(
        600,
        ge=0,
        description="Seconds after which the browser of a keep-alive session that nobody uses is closed; 0 = never.",
    )
    workspace_max_mb: int = Field(
        10_000, ge=1, description="Megabytes that the files of one workspace may have together."
    )
    chromium_path: str = Field("", description="Chromium program; by default the one of the system.")
    chromium_flags: str = Field("", description="More flags for Chromium, separated by spaces.")
    chromium_sandbox: Literal["auto", "on", "off"] = Field(
        "auto", description="Chromium's own sandbox; auto leaves it on wherever this machine lets it work."
    )
    sandbox: Literal["auto", "off"] = Field(
        "auto", description="Where the agent's scripts run; auto lets them run wherever they can be shut in."
    )
    pressure_path: Path = Field(
        Path("/proc/pressure/cpu"),
        description="File in which the kernel tells how much work waits for a processor; a container may have its own.",
    )
    browse_private: NameList = Field(
        (), description="Private hosts or networks that the agent's browser may open: private, loopback, hosts, CIDRs."
    )
    cloud_max_cost_factor: Decimal = Field(
        Decimal(1), gt=0, le=1, description="What maxCostUsd is multiplied by, where it was written for other prices."
    )
    allow_insecure_no_auth: bool = Field(False, description="Serve pages and API without sign-in or key.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    log_format: Literal["text", "json"] = Field("text", description="Form of the log lines.")
    display_base: int = Field(10, ge=1, description="X display number of the first slot.")
    bridge_port_base: int = Field(6080, ge=1024, description="Port of the first slot's bridge, on loopback.")
    cdp_port_base: int = Field(9222, ge=1024, description="Port of the first slot's browser, on loopback.")

    @field_validator("trusted_proxies", "compatible_models", "browse_private", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @property
    def base_url(self) -> str:
        """Address that links are made with, without a slash at the end."""
        return self.public_url.rstrip("/") or self.local_url

    @property
    def local_url(self) -> str:
        """Address at which this machine reaches the server, without a slash at the end."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def socket_dir(self) -> Path:
        """Folder for the supervisor's and the displays' sockets; short, since socket paths are limited to 107 bytes."""
        return self.run_dir or Path(f"/tmp/pilothouse-{os.getuid()}-{self.port}")

    @property
    def sqlalchemy_url(self) -> str:
        """Address of the database in SQLAlchemy's form."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'pilothouse.db'}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: arguments, environment, `NAME_FILE`, `.env` of the data directory, `.env` here."""
        data_dir = Path(os.environ.get("DATA_DIR", "data"))
        return (
            init_settings,
            env_settings,
            _SecretFileSource(settings_cls),
            DotEnvSettingsSource(settings_cls, env_file=data_dir / ".env"),
            DotEnvSettingsSource(settings_cls, env_file=Path(".env")),
        )


class _SecretFileSource(PydanticBaseSettingsSource):
    """Reads the setting NAME from the file that the variable NAME_FILE names."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        path = os.environ.get(f"{field_name.upper()}_FILE")
        if not path:
            return None, field_name, False
        try:
            return Path(path).read_text().strip(), field_name, False
        except OSError as error:
            raise SettingsInvalid(
                f"{field_name.upper()}_FILE names {path}, which cannot be read ({error.strerror}); correct the path."
            ) from error

    def __call__(self) -> dict[str, Any]:
        values = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: value for name, value in values.items() if value is not None}


def load_settings(**overrides: Any) -> Settings:
    """Return the settings of this process; raises SettingsInvalid naming each wrong variable."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        wrong = "; ".join(f"{str(item['loc'][0]).upper()}: {item['msg']}" for item in error.errors())
        raise SettingsInvalid(f"Some settings cannot be used, correct them and start again: {wrong}.") from error


def find_unknown_names(environment: Mapping[str, str]) -> list[str]:
    """Return variables that look like misspelt settings: one or two letters off a known name."""
    known = {name.upper() for name in Settings.model_fields}
    known |= {f"{name}_FILE" for name in known}
    return sorted(name for name in environment if name not in known and _is_near(name, known))


def _is_near(name: str, known: set[str]) -> bool:
    return len(name) > 5 and bool(get_close_matches(name, known, n=1, cutoff=0.9))
