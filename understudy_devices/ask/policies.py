# SPDX-License-Identifier: MIT
"""The policies of the simulator's page cache: prefetchers and replacement policies, those of this
project (one file each in core/prefetch/ and core/replacement/) and those in users' files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from understudy_devices.ask.schedulers import KERNEL, RESERVED, Tunables
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import UserError
from understudy_devices.native import descriptions, registry


@dataclass(frozen=True)
class Kind:
    """A kind of policy: where its files are, its option, its words, and the default's name."""

    folder: str
    option: str
    words: str
    default: str

    def ours(self) -> list[str]:
        """Return the names of the project's policies."""
        return registry.ours(self.folder)

    def of_ours(self, name: str) -> "Policy":
        """Return a policy of the project."""
        return Policy(self, registry.our_file(self.folder, name))

    def parse(self, text: str) -> "Policy":
        """Return the policy of that name, or the one in that file.

        A word that ends in .c or has a slash is a file; the file itself declares the name.
        """
        word = text.strip()
        if word.endswith(".c") or "/" in word:
            return self._from_file(word)
        if word not in self.ours():
            raise UserError(f"{self.option}: {unknown(self.words, word, self.ours())}, or ./NAME.c")
        return self.of_ours(word)

    def _from_file(self, word: str) -> "Policy":
        path = Path(word).expanduser()
        if path.exists() and not path.is_file():
            raise UserError(f"{self.option}: {word} is not a file")
        try:
            file = registry.Source(word, registry.read(path), folder=self.folder)
        except OSError as error:
            raise UserError(f"{self.option}: {word}: {error.strerror}") from None
        return self.of_user(file, f"{self.option}: {word}")

    def of_user(self, file: registry.Source, said: str) -> "Policy":
        """Return the policy in a user's file; messages begin with `said`."""
        policy = Policy(self, file)
        ours = (name for folder in registry.PARTS for name in registry.ours(folder))
        if policy.name in (*ours, *KERNEL, *RESERVED):
            raise UserError(f"{said} calls itself {policy.name}, which is taken; change .name")
        return policy


PREFETCH = Kind(registry.PREFETCH, "--prefetch", "prefetcher", "doubling")
REPLACEMENT = Kind(registry.REPLACEMENT, "--replacement", "replacement policy", "lru")
KINDS = {"prefetch": PREFETCH, "replacement": REPLACEMENT}


@dataclass(frozen=True)
class Policy:
    """A policy, and its tunables that differ from their defaults."""

    kind: Kind
    file: registry.Source
    tunables: Tunables = ()

    @cached_property
    def described(self) -> descriptions.Scheduler:
        """Return its declarations; RunFailed if they can't be read."""
        described = descriptions.describe(self.file)
        if self.file.ours and described.name != self.file.stem:
            raise UserError(
                f"{self.file.shown}: it calls itself {described.name}; its name and the file's "
                "have to be the same"
            )
        return described

    @property
    def name(self) -> str:
        """Return its name."""
        return self.described.name

    def __str__(self) -> str:
        """Return what a person would type for it."""
        return self.file.shown if self.file.stranger else self.name

    def columns(self, field: str) -> dict[str, str]:
        """Return its name, the digest of its code and its tunables, as columns of a result."""
        return {
            field: self.name,
            f"{field}_digest": registry.content(self.file),
            f"{field}_tunables": " ".join(f"{name}={value}" for name, value in self.tunables),
        }


def declarations(kind: Kind) -> Mapping[str, descriptions.Scheduler]:
    """Return the declarations of this project's policies of a kind, by name."""
    return {name: kind.of_ours(name).described for name in kind.ours()}
