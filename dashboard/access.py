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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from analysis.errors import SettingError

Role = Literal["viewer", "analyst"]
ROLES: tuple[Role, ...] = ("viewer", "analyst")
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1", "[::1]")
_NAME = re.compile(r"[\w.@-]{1,64}")


@dataclass(frozen=True)
class Person:
    """One line of the auth file."""

    name: str
    role: Role
    hash: str


@dataclass
class Access:
    """The rules of one server."""

    local: bool  # it listens on this machine only
    people: dict[str, Person] = field(default_factory=dict)  # empty: no login
    _hasher: PasswordHasher = field(default_factory=PasswordHasher)
    _secret: bytes = field(default_factory=lambda: os.urandom(32))
    _known: dict[bytes, Role] = field(default_factory=dict)  # logins that were right, as keyed hashes: argon2 is slow

    @classmethod
    def of(cls, host: str, auth_file: Path | None) -> Self:
        """The rules for an address to listen on."""
        return cls(is_local(host), read_auth_file(auth_file) if auth_file else {})

    @property
    def read_only(self) -> bool:
        """Whether nobody may start anything."""
        return not self.local and not self.people

    def role(self, authorization: str | None) -> Role | None:
        """What the sender of an `Authorization` header may do; None: a login is needed."""
        if not self.people:
            return "analyst" if self.local else "viewer"
        login = _basic(authorization)
        if login is None:
            return None
        mark = hmac.new(self._secret, f"{login[0]}:{login[1]}".encode(), hashlib.sha256).digest()
        role = self._known.get(mark)
        if role is None and (person := self._verified(*login)) is not None:
            role = person.role
            if len(self._known) > 1000:
                self._known.clear()
            self._known[mark] = role
        return role

    def _verified(self, name: str, password: str) -> Person | None:
        """The person if the password is right; an unknown name takes as long as a wrong password."""
        person = self.people.get(name)
        try:
            self._hasher.verify(person.hash if person else _NOBODY, password)
        except (VerificationError, InvalidHashError):
            return None
        return person


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
        if not _NAME.fullmatch(name) or role not in ROLES or not hashed.startswith("$argon2"):
            raise SettingError(f"{path.name}, line {number}: not name:role:hash", "Make it with: " + _COMMAND)
        people[name] = Person(name, "analyst" if role == "analyst" else "viewer", hashed)
    if not people:
        raise SettingError(f"the auth file {path} names nobody", "Make a line with: " + _COMMAND)
    return people


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
    if len(arguments) != 2 or not _NAME.fullmatch(arguments[0]) or arguments[1] not in ROLES:
        print(f"usage: {_COMMAND}", file=sys.stderr)
        return 2
    password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    print(f"{arguments[0]}:{arguments[1]}:{PasswordHasher().hash(password)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
