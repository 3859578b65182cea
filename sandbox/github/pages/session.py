"""Who sits at the browser: a signed cookie, and a token in every form."""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "sandbox_session"


@dataclass(frozen=True, slots=True)
class Session:
    """One browser; user_id is None until somebody signs in."""

    user_id: int | None
    nonce: str
    fresh: bool = False


class Signer:
    """Signs cookies and form tokens with a key that lives as long as the process."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def _mac(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}:{text}".encode(), sha256).hexdigest()

    def session(self, request: Request) -> Session:
        """Read the cookie; a missing or forged one is a new visitor."""
        body, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        expected = self._mac("cookie", body)
        if body and hmac.compare_digest(signature.encode(), expected.encode()):
            user, _, nonce = body.partition(".")
            return Session(int(user) if user else None, nonce)
        return Session(None, secrets.token_hex(16), fresh=True)

    def remember(self, response: Response, session: Session) -> None:
        """Set the cookie of a session."""
        body = f"{session.user_id or ''}.{session.nonce}"
        value = f"{body}.{self._mac('cookie', body)}"
        response.set_cookie(COOKIE, value, httponly=True, samesite="lax")

    def signed_in(self, user_id: int | None) -> Session:
        """Begin a new session; an old form's token ends with the old one."""
        return Session(user_id, secrets.token_hex(16), fresh=True)

    def token(self, session: Session) -> str:
        """Give the hidden token of this session's forms."""
        return self._mac("form", f"{session.user_id}.{session.nonce}")

    def genuine(self, session: Session, token: object) -> bool:
        """Whether a form was made for this session."""
        return isinstance(token, str) and hmac.compare_digest(
            token.encode(), self.token(session).encode()
        )
