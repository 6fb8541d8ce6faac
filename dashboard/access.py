"""Who may do what. On this machine's own address everybody is an analyst; elsewhere only people with a password are.

An auth file has a line for each person, `name:role:hash`: role is `viewer` or `analyst`, and the hash is made by
`python -m dashboard.access NAME ROLE` (argon2id).
"""

import base64
import binascii
import getpass
import hashlib
import hmac
import ipaddress
import os
import re
import sys
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

from analysis.errors import SettingError

AccessRole = Literal["viewer", "analyst"]
ACCESS_ROLES: tuple[AccessRole, ...] = ("viewer", "analyst")
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1", "[::1]")
_SALT, _DIGEST = 8, 4  # bytes that argon2 wants at least
_NAME = re.compile(r"[\w.@-]{1,64}")


@dataclass(frozen=True)
class Person:
    """One line of the auth file."""

    name: str
    role: AccessRole
    hash: str


@dataclass
class Access:
    """The rules of one server."""

    local: bool  # only this machine reaches it
    people: dict[str, Person] = field(default_factory=dict)  # empty: no login
    names: tuple[str, ...] = LOCAL_NAMES  # by which a server that listens on this machine only may be called
    public_url: str = ""  # what browsers see when a proxy stands in front
    _hasher: PasswordHasher = field(default_factory=PasswordHasher)
    _secret: bytes = field(default_factory=lambda: os.urandom(32))
    _right_logins: dict[bytes, AccessRole] = field(default_factory=dict)  # as keyed hashes: argon2 is slow

    @classmethod
    def of(cls, host: str, auth_file: Path | None, public_url: str = "") -> Self:
        """The rules for an address to listen on, and the one under which a proxy shows it to others."""
        people = read_auth_file(auth_file) if auth_file else {}
        public = read_public_url(public_url) if public_url else ""
        names = {*LOCAL_NAMES, host.lower(), f"[{host.lower()}]", urlsplit(public).hostname or "localhost"}
        bound = is_local(host)
        return cls(bound and not public, people, tuple(names) if bound else (), public)

    @property
    def read_only(self) -> bool:
        """Whether nobody may start anything."""
        return not self.local and not self.people

    @property
    def trusts_everybody(self) -> bool:
        """Whether whoever reaches it may do everything, because only people of this machine should."""
        return self.local and not self.people

    def answers_to(self, name: str) -> bool:
        """Whether a request may call the server by this name; another one is a trick on this machine's browser."""
        is_bound = self.local or bool(self.public_url and self.names)
        return name in self.names if is_bound else True

    def role_of(self, authorization: str | None) -> AccessRole | None:
        """What somebody may do who needs no login, or whose login was right before. Takes no time."""
        if not self.people:
            return "analyst" if self.local else "viewer"
        login = _basic(authorization)
        return None if login is None else self._right_logins.get(self._mark(*login))

    def role(self, authorization: str | None) -> AccessRole | None:
        """What the sender of an `Authorization` header may do; None: a login is needed. Takes long, on purpose."""
        role, login = self.role_of(authorization), _basic(authorization)
        if role is not None or login is None:
            return role
        person = self._verified(*login)
        if person is None:
            return None
        if len(self._right_logins) > 1000:
            self._right_logins.clear()
        self._right_logins[self._mark(*login)] = person.role
        return person.role

    def _mark(self, name: str, password: str) -> bytes:
        return hmac.new(self._secret, f"{name}:{password}".encode(), hashlib.sha256).digest()

    def _verified(self, name: str, password: str) -> Person | None:
        """The person if the password is right; an unknown name takes as long as a wrong password."""
        person = self.people.get(name)
        try:
            self._hasher.verify(person.hash if person else _NOBODY, normal(password))
        except (VerificationError, InvalidHashError):
            return None
        return person if password else None


def normal(password: str) -> str:
    """One spelling of a password, whichever way a keyboard composes its letters."""
    return unicodedata.normalize("NFC", password)


def login_name(authorization: str | None) -> str:
    """The name that a login gives, for the log; empty without a login."""
    login = _basic(authorization)
    return "" if login is None else login[0]


_NOBODY = PasswordHasher().hash("nobody has this password")  # compared with when a name is unknown


def is_local(host: str) -> bool:
    """Whether an address to listen on is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_auth_file(path: Path) -> dict[str, Person]:
    """The people of an auth file; what is wrong with it is said with its line."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"the auth file {path} cannot be read", "Check the path and its permissions.") from error
    people: dict[str, Person] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, rest = line.strip().partition(":")
        role, _, hashed = rest.partition(":")
        if not _NAME.fullmatch(name) or role not in ACCESS_ROLES or not _is_hash(hashed):
            raise SettingError(f"{path.name}, line {number}: not name:role:hash", "Make it with: " + _COMMAND)
        if name in people:
            raise SettingError(f"{path.name}, line {number}: {name} has a line already", "Delete one of the two.")
        people[name] = Person(name, "analyst" if role == "analyst" else "viewer", hashed)
    if not people:
        raise SettingError(f"the auth file {path} names nobody", "Make a line with: " + _COMMAND)
    return people


def _is_hash(text: str) -> bool:
    """Whether passwords can be compared with it."""
    try:
        has_length = extract_parameters(text).hash_len > 0
        salt, digest = (_decoded(part) for part in text.split("$")[-2:])
    except (InvalidHashError, binascii.Error, ValueError):
        return False
    return has_length and len(salt) >= _SALT and len(digest) >= _DIGEST


def _decoded(text: str) -> bytes:
    """Base64 as it stands in a hash, without the signs that fill it up."""
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def read_public_url(text: str) -> str:
    """The origin of a URL such as https://atlas.example.org, in lower case; without a path."""
    try:
        url = urlsplit(text.strip().lower())
        _ = url.port  # raises for what is no number
    except ValueError:
        url = urlsplit("")
    if url.scheme not in {"http", "https"} or not url.hostname or url.path.strip("/") or url.query or url.username:
        raise SettingError(f"--public-url {text[:200]!r} is not a valid URL", "Write it like https://atlas.example.org")
    return f"{url.scheme}://{url.netloc}"


_COMMAND = "python -m dashboard.access NAME viewer|analyst >> FILE"


def _basic(header: str | None) -> tuple[str, str] | None:
    kind, _, content = (header or "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        name, _, password = base64.b64decode(content, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return name, password


def main(arguments: list[str]) -> int:
    """Print a line for the auth file; the password is asked for, or read from standard input."""
    if len(arguments) != 2 or not _NAME.fullmatch(arguments[0]) or arguments[1] not in ACCESS_ROLES:
        print(f"usage: {_COMMAND}", file=sys.stderr)
        return 2
    password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if not password:
        print("error: the password is empty", file=sys.stderr)
        return 2
    print(f"{arguments[0]}:{arguments[1]}:{PasswordHasher().hash(normal(password))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
