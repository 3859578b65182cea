"""Who a request comes from: App JWTs, installation tokens, people's tokens."""

import base64
import binascii
import secrets
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization

from .caller import LEVELS, Caller
from .core import Core
from .model import App, Installation, Token
from .refusal import Refused, bad_credentials, not_found

JWT_LIFE = timedelta(minutes=10)
TOKEN_LIFE = timedelta(hours=1)
DRIFT = timedelta(seconds=5)


def authenticate(world: Core, header: str | None) -> Caller:
    """Read an Authorization header (Bearer, token or Basic); 401 for one that proves nothing."""
    if not header:
        return Caller("nobody")
    scheme, _, text = header.partition(" ")
    if scheme.lower() == "basic":
        text = _password(text)
    elif scheme.lower() not in ("bearer", "token"):
        raise bad_credentials()
    if text.count(".") == 2 and not text.startswith("gh"):  # noqa: PLR2004
        return _app(world, text)
    return _token(world, text.strip())


def _password(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError) as bad:
        raise bad_credentials() from bad


def _app(world: Core, text: str) -> Caller:
    try:
        issuer = str(jwt.decode(text, options={"verify_signature": False}).get("iss"))
    except jwt.PyJWTError as bad:
        raise Refused(401, "A JSON web token could not be decoded") from bad
    for app in world.state.apps.values():
        if issuer in (str(app.id), app.client_id):
            _check_jwt(world, app, text)
            return Caller("app", world.state.accounts[app.bot_id], app)
    raise Refused(401, "Integration not found")


@lru_cache
def _public_key(private_key: str) -> str:
    key = serialization.load_pem_private_key(private_key.encode(), None).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form).decode()


def _check_jwt(world: Core, app: App, text: str) -> None:
    key = _public_key(app.private_key)
    off: Any = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False}
    try:
        claims = jwt.decode(text, key, algorithms=["RS256"], options=off)
    except jwt.PyJWTError as bad:
        raise Refused(401, "A JSON web token could not be decoded") from bad
    now = world.clock.machine().timestamp()
    made, end = (_number(claims, name) for name in ("iat", "exp"))
    if end <= now:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the past")
    if end - now > JWT_LIFE.total_seconds():
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    if made > now + DRIFT.total_seconds():
        raise Refused(401, "'Issued at' claim ('iat') must be an Integer in the past")


def _number(claims: Mapping[str, Any], name: str) -> float:
    if not isinstance(claims.get(name), int | float):
        raise Refused(401, f"Missing '{name}' claim")
    return float(claims[name])


def _token(world: Core, text: str) -> Caller:
    token = world.state.tokens.get(text)
    if not token or (token.expires_at and token.expires_at <= world.clock.machine()):
        raise bad_credentials()
    app = world.state.apps.get(token.app_id or 0)
    if token.user_id:
        return Caller("user", world.state.accounts[token.user_id], app, token=token)
    installation = world.state.installations.get(token.installation_id or 0)
    if not installation or not app:
        raise bad_credentials()
    if installation.suspended_at:
        raise Refused(403, "This installation has been suspended")
    return Caller("installation", world.state.accounts[app.bot_id], app, installation, token)


def new_token(
    world: Core, app: App, installation: Installation, wanted: Mapping[str, Any]
) -> tuple[str, Token]:
    """Make an installation token for one hour, narrowed as asked; 422 for more than is granted.

    `wanted` holds repository_ids, repositories (names) and permissions, as GitHub's API takes them.
    """
    if installation.app_id != app.id:
        raise not_found()
    if installation.suspended_at:
        raise Refused(403, "This installation has been suspended")
    token = Token(
        app_id=app.id,
        installation_id=installation.id,
        permissions=_narrowed(installation, wanted.get("permissions")),
        repository_ids=_selected(world, installation, wanted),
        expires_at=(world.clock.machine() + TOKEN_LIFE).replace(microsecond=0),
    )
    text = f"ghs_{secrets.token_hex(18)}"
    world.state.tokens[text] = token
    return text, token


def _narrowed(installation: Installation, wanted: Mapping[str, str] | None) -> dict[str, str]:
    if not wanted:
        return dict(installation.permissions)
    for name, level in wanted.items():
        have = installation.permissions.get(name)
        if not have or LEVELS.index(level) > LEVELS.index(have):
            raise Refused(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wanted}


def _selected(
    world: Core, installation: Installation, wanted: Mapping[str, Any]
) -> set[int] | None:
    names = {name.lower() for name in wanted.get("repositories", ())}
    ids = set(wanted.get("repository_ids", ()))
    if not names and not ids:
        return None
    covered = [r for r in world.state.repositories.values() if world.covers(installation, r)]
    chosen = {r.id for r in covered if r.id in ids or r.name.lower() in names}
    known = {r.id for r in covered} | {r.name.lower() for r in covered}
    if not ids | names <= known:
        raise Refused(
            422,
            "There is at least one repository that does not exist or is not accessible to the "
            "parent installation.",
        )
    return chosen
