"""The first start: an administrator from the settings, or a one-time token that lets one person make an account."""

import hmac
import secrets

import structlog

from appliance.errors import Conflict, NotAllowed, SettingsInvalid
from appliance.persistence.database import Database, Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.users import add_user, count_users
from appliance.settings import Settings
from web.auth import new_key
from web.signin import hash_password

log = structlog.get_logger()


class FirstStart:
    """Open until there is a user; the token lives in this process only, so a restart prints another."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._token = ""

    @property
    def is_open(self) -> bool:
        """Whether an account can be made at /setup."""
        return bool(self._token)

    async def prepare(self) -> None:
        """Make the administrator of the settings if nobody exists, or print the token that lets one be made."""
        if self._settings.allow_insecure_no_auth or await self._has_users():
            return
        if self._settings.admin_email and self._settings.admin_password:
            await self._make_admin(self._settings.admin_email, self._settings.admin_password.get_secret_value())
            return
        if self._settings.admin_email or self._settings.admin_password:
            raise SettingsInvalid("ADMIN_EMAIL and ADMIN_PASSWORD go together; set both, or neither to use /setup.")
        self._token = secrets.token_urlsafe(18)
        log.warning(
            "Setup: nobody has an account yet; make yours with this token",
            address=f"{self._settings.base_url}/setup?token={self._token}",
        )

    async def make_account(self, token: str, email: str, password: str) -> str:
        """Make the first account and its API key, which is returned, and close.

        Raises NotAllowed for a wrong token, RequestInvalid for an unfit password, Conflict when somebody was quicker.
        """
        if not self.is_open or not hmac.compare_digest(token.strip().encode(), self._token.encode()):
            raise NotAllowed(
                "This is not the setup token. The newest line of the server's log that begins “Setup” has it."
            )
        password_hash = await hash_password(password)
        key = new_key()

        async def write(transaction: Transaction) -> None:
            if await count_users(transaction):
                raise Conflict("Somebody has made the first account meanwhile; sign in instead.")
            await add_user(transaction, email, password_hash)
            await add_key(transaction, "first key", key)

        await self._database.writer.submit(write)
        self._token = ""
        return key

    async def check(self) -> None:
        """Close when an account was made by other means, such as the command line."""
        if self.is_open and await self._has_users():
            self._token = ""

    async def _has_users(self) -> bool:
        async with self._database.read() as transaction:
            return await count_users(transaction) > 0

    async def _make_admin(self, email: str, password: str) -> None:
        password_hash = await hash_password(password)

        async def write(transaction: Transaction) -> None:
            await add_user(transaction, email, password_hash)

        await self._database.writer.submit(write)
        log.info("the administrator of the settings was made", email=email)
