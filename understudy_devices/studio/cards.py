# SPDX-License-Identifier: MIT
"""The cards of the studio's folder: specifications in FOLDER/cards, a Git repository.

Each save is a commit.  A save names the revision that it is based on; if the card has another one
now, nothing is written (ConflictError).  The file is replaced at once, then committed.  If the
studio is killed in between, or somebody edits the file, the next save commits that change first.
"""

import fcntl
import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cards.document import BYTES_MAX

FOLDER = "cards"
NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
COMMIT = re.compile(r"[0-9a-f]{7,64}")
HISTORY_MOST = 200
GIT_SECONDS = 60
SETTINGS = ("core.hooksPath=/dev/null", "commit.gpgSign=false", "core.fsmonitor=false")
NOBODY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Understudy"), ("EMAIL", "understudy@localhost"))
}
# Settings of a repository that run no program; somebody else may have made the folder.
HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|"
    r"symlinks|precomposeunicode)|(user|branch)\..*|remote\..*\.(url|fetch)|"
    r"extensions\.objectformat"
)
ELSEWHERE = "Changed outside the studio"
MESSAGE_LETTERS = 200


@dataclass(frozen=True)
class Saved:
    """A card's text, and its revision: a digest of it."""

    name: str
    text: str

    @property
    def revision(self) -> str:
        """Return the digest."""
        return revision_of(self.text.encode())


@dataclass(frozen=True)
class Version:
    """A commit of a card."""

    commit: str
    at_s: int
    message: str


class ConflictError(Exception):
    """The card has been changed since the revision that a save is based on; None: it is gone."""

    def __init__(self, theirs: Saved | None) -> None:
        super().__init__("changed by someone else")
        self.theirs = theirs


def revision_of(raw: bytes) -> str:
    """Return a digest of a card's text."""
    return hashlib.sha256(raw).hexdigest()[:16]


class Library:
    """The cards of one folder of the studio."""

    def __init__(self, folder: Path) -> None:
        """Nothing is written before the first save."""
        self.folder = folder / FOLDER
        self._identity: dict[str, str] = {}

    def names(self) -> list[str]:
        """Return the names of all cards."""
        found = (file.stem for file in self.folder.glob("*.yaml") if file.is_file())
        return sorted(name for name in found if NAME.fullmatch(name))

    def read(self, name: str) -> Saved | None:
        """Return a card; None if there is none of this name.  RunFailed if it can't be read."""
        file = self._file(name)
        try:
            with file.open("rb") as opened:
                raw = opened.read(BYTES_MAX + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunFailed(f"{file}: {error.strerror}") from error
        if len(raw) > BYTES_MAX:
            raise RunFailed(f"{file}: longer than {BYTES_MAX:,} bytes: no specification")
        try:
            return Saved(name, raw.decode())
        except UnicodeDecodeError as error:
            raise RunFailed(f"{file}: not UTF-8; save it as UTF-8 in an editor") from error

    def save(self, name: str, text: str, base: str | None, message: str = "") -> Saved:
        """Write a card and commit it.

        base: the revision that the text is based on; None: a new card. Raise ConflictError if the
        card has another one, unless it has this text already. RunFailed if the disk is full: the
        file is the old one or the new one, and the same save may be tried again.
        """
        file = self._file(name)
        if len(text.encode()) > BYTES_MAX:
            raise UserError(f"longer than {BYTES_MAX:,} bytes: no specification; shorten it")
        with self._locked():
            now = self.read(name)
            is_saved = now is not None and now.text == text  # a save that could not commit
            if not is_saved and (now.revision if now else None) != base:
                raise ConflictError(now)
            if not is_saved:
                self._commit(name, ELSEWHERE)
            with scratch.replacing(file) as temporary:
                temporary.write_bytes(text.encode())
            self._commit(name, " ".join(message.split())[:MESSAGE_LETTERS] or f"Save {name}")
        return Saved(name, text)

    def history(self, name: str) -> list[Version]:
        """Return the commits of a card, the last one first; RunFailed for a stranger's settings."""
        file = self._file(name).name
        if not self._is_repository():
            return []
        self._check()
        form = "--format=%H%x00%ct%x00%s"
        printed = self._git("log", f"-{HISTORY_MOST}", form, "--", file, fails=True)
        versions = []
        for line in printed.splitlines():
            commit, at_s, message = line.split("\0")
            versions.append(Version(commit, int(at_s), message))
        return versions

    def at(self, name: str, commit: str) -> str | None:
        """Return the text that a card had in a commit; None if it had none.

        RunFailed for a stranger's settings.
        """
        if not COMMIT.fullmatch(commit) or not self._is_repository():
            return None
        self._check()
        place = f"{commit}:{self._file(name).name}"
        kind = self._git("cat-file", "-t", place, fails=True).strip()
        return self._git("cat-file", "blob", place) if kind == "blob" else None

    def _file(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise UserError(
                f"{name!r} is no name of a card: write a letter, then letters, digits and _, at "
                "most 31, all lower case"
            )
        file = self.folder / f"{name}.yaml"
        if file.is_symlink():
            raise UserError(f"{file}: a link, which may lead anywhere; put the file in its place")
        return file

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep out other studios while a card is written; make the repository if it is missing."""
        try:
            self.folder.mkdir(exist_ok=True)
            with (self.folder / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not self._is_repository():
                    self._git("init", "--quiet")
                self._check()
                yield
        except OSError as error:
            raise RunFailed(f"{self.folder}: {error.strerror}") from error

    def _is_repository(self) -> bool:
        return (self.folder / ".git").is_dir()

    def _check(self) -> None:
        """Refuse a repository whose own settings may run a program; find out who commits.

        To be called before any other command of Git: reading runs programs, too.
        """
        printed = self._git("config", "--local", "--list", "--name-only", "-z")
        names = printed.split("\0")[:-1]
        if strange := [name for name in names if not HARMLESS.fullmatch(name)]:
            raise RunFailed(
                f"{self.folder}: the repository has the setting {strange[0]}, which may run a "
                f"program; look at it, then git -C {self.folder} config --unset {strange[0]}"
            )
        known = self._git("config", "--get", "user.email", fails=True).strip()
        self._identity = {} if known else NOBODY

    def _commit(self, name: str, message: str) -> None:
        file = f"{name}.yaml"
        if self._git("status", "--porcelain", "--", file):
            self._git("add", "--", file)
            self._git("commit", "--quiet", "--no-verify", "--message", message, "--", file)

    def _git(self, *words: str, fails: bool = False) -> str:
        """Return what a command of Git prints; nothing if it fails and may.

        Hooks, signatures and editors of the user are not used.
        """
        given = [word for one in SETTINGS for word in ("-c", one)]
        try:
            done = subprocess.run(
                ["git", "-C", self.folder, *given, *words],
                env={**os.environ, **self._identity, "GIT_TERMINAL_PROMPT": "0", "GIT_DIR": ".git"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except FileNotFoundError as error:
            raise RunFailed("no git here: apt-get install git") from error
        except subprocess.TimeoutExpired as error:
            raise RunFailed(f"git {words[0]} took more than {GIT_SECONDS} s") from error
        if done.returncode and not fails:
            raise RunFailed(f"git {words[0]}: {_reason(done)}")
        return "" if done.returncode else done.stdout.decode(errors="replace")


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return why a command of Git failed, in one line."""
    said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit {done.returncode}"]
    if lock := re.search("Unable to create '(.*\\.lock)': File exists", said[0]):
        return f"a Git is running, or was killed; if no Git is running, rm {lock[1]}"
    return said[-1]
