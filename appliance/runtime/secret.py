"""The secret behind cookies and links."""

import os
import secrets
from pathlib import Path

from appliance.errors import SettingsInvalid
from appliance.settings import Settings

_SHORTEST = 32


def read_secret(settings: Settings) -> bytes:
    """Return the secret of cookies and links: SECRET_KEY, else the one in the data directory, made at first use."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    path = settings.data_dir / "secret.key"
    try:
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(48))
        secret = path.read_text().strip()
    except OSError as error:
        raise SettingsInvalid(f"The key file {path} cannot be read ({error.strerror}); correct its owner.") from error
    if len(secret) < _SHORTEST:
        raise SettingsInvalid(
            f"The key file {path} is damaged; restore it, or delete it to end all sign-ins and links."
        )
    return secret.encode()


def _write_once(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
