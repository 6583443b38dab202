"""The tree of accounts and their users, with the shares of each, as rows of a policy's memory.

Shares and usage are those of Slurm's classic fair-share algorithm (https://slurm.schedmd.com/classic_fair_share.html):
an account or user owns its share of what its parent owns, and what its children use counts as used by it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.policies.sdk import Record, number, whole

if TYPE_CHECKING:
    import polars as pl

ROOT = 0
"""The row of the root."""


class Account(Record):
    """An account, or a user of one."""

    parent = whole("its parent's row; of the root, -1")
    share = number("its share among its siblings")
    owned = number("its share of the cluster")
    usage = number("decayed usage", unit="GPU-ms")
    since = whole("when that was", unit="ms")
    held = whole("GPUs that it holds")
    taken = whole("the time of the last calculation; -1", unit="ms")
    used = number("its usage then", unit="GPU-ms")
    stamp = whole("for when the following were calculated; -1", unit="ms")
    effective = number("effective usage")
    factor = number("fair-share factor")


_HAPPENED = ("usage", "since", "held", "taken", "used", "stamp", "effective", "factor")


def users_of(jobs: "pl.DataFrame") -> "pl.DataFrame":
    """The account and the user of each job, of no name where it has none. Where no job has an account, queues are."""
    silent = jobs["account"].null_count() == jobs.height
    account = jobs["queue" if silent else "account"]
    return jobs.select(account=account.fill_null(""), user=jobs["user"].fill_null(""))


class Accounts:
    """The accounts of a log, or its queues where it names no accounts, and their users."""

    def __init__(self, jobs: "pl.DataFrame", parents: Mapping[str, str], shares: Mapping[str, float]) -> None:
        """The tree of these jobs.

        Args:
            jobs: the columns that `users_of` reads.
            parents: the parent of an account, by its name; others are below the root.
            shares: the shares of accounts, and of users as ``ACCOUNT/USER``; others have 1.
        """
        named = users_of(jobs)
        pairs = named.unique(maintain_order=True).with_row_index("pair")
        accounts = dict.fromkeys([*pairs["account"].to_list(), *parents, *parents.values()])
        self.names = [*accounts, *(f"{account}/{user}" for account, user in pairs.select("account", "user").rows())]
        index = {name: k for k, name in enumerate(accounts)}
        above = [index[parents[name]] if name in parents else -1 for name in accounts]
        self.parent = np.array([*above, *(index[account] for account in pairs["account"])])
        """(rows) the parent's row, -1 below the root; accounts first."""
        self.shares = self._shares(shares)
        self.user_of_job = len(accounts) + named.join(
            pairs, on=["account", "user"], how="left", maintain_order="left"
        )["pair"].to_numpy().astype(np.int64)  # fmt: skip
        """(jobs) the row of the user in its account."""

    def check(self, shares: Mapping[str, float]) -> None:
        """That the tree is one, and has all that `shares` name.

        Raises:
            UsageError: parents go in a circle, or there is no such account or user.
        """
        self.owned()
        if unknown := sorted(set(shares) - set(self.names)):
            raise UsageError(
                f"shares of {unknown[0]!r:.60}: the log has no such account (if it names none, its "
                "queues are the accounts; a user is ACCOUNT/USER)"
            )

    def _shares(self, given: Mapping[str, float]) -> NDArray[np.float64]:
        """(rows) each one's part of what the children of its parent have together."""
        own = np.array([given.get(name, 1.0) for name in self.names])
        together = np.bincount(self.parent + 1, own)[self.parent + 1]
        return np.divide(own, together, out=np.zeros(len(own)), where=together > 0.0)

    def owned(self) -> NDArray[np.float64]:
        """(rows) each one's part of the cluster: the product of its share and those above it."""
        owned, above = self.shares.copy(), self.parent.copy()
        for _ in range(len(owned)):
            if (above < 0).all():
                return owned
            owned *= np.where(above >= 0, self.shares[above], 1.0)
            above = np.where(above >= 0, self.parent[above], -1)
        raise UsageError("the parents of accounts form a cycle: an account is its own parent")

    @property
    def rows(self) -> int:
        """How many there are, with the root."""
        return 1 + len(self.names)

    def fill(self, accounts: Any) -> None:
        """Write the tree, of which nothing has been used, into rows of `Account`, the root first."""
        for name in ("taken", "stamp"):
            accounts.column(name)[:] = -1.0
        accounts.column("parent")[:] = np.append(-1, 1 + self.parent)
        accounts.column("share")[1:], accounts.column("owned")[1:] = self.shares, self.owned()

    def take_usage(self, accounts: Any, before: "Accounts", of: Any) -> None:
        """Write what accounts and users have used by rows `of` the fewer ones of `before`."""
        place = {name: 1 + k for k, name in enumerate(self.names)}
        rows = [(0, 0), *((1 + k, place[name]) for k, name in enumerate(before.names) if name in place)]
        theirs, ours = np.array(rows).T
        for name in _HAPPENED:
            accounts.column(name)[ours] = of.column(name)[theirs]

    def row_of_user(self) -> NDArray[np.float64]:
        """(jobs) the row of each job's user."""
        return 1.0 + self.user_of_job
