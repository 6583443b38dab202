"""The tree of accounts and their users, with the shares of each, as rows of a policy's memory.

Shares and usage are those of Slurm's classic fair-share algorithm (https://slurm.schedmd.com/classic_fair_share.html):
an account or user owns its share of what its parent owns, and what its children use counts as used by it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

ROOT = 8
"""Where the root's row begins in the memory; before it there is room for the policy's own numbers."""
PARENT, SHARE, OWNED, USAGE, SINCE, HELD, TAKEN, USED, STAMP, EFFECTIVE, FACTOR, WIDTH = range(12)
"""Of a row: where its parent's begins; its share among its siblings, and of the cluster; its decayed usage in GPU-ms,
when that was, and the GPUs that it holds; the time of the last calculation and its usage then; the time for which its
effective usage and its fair-share factor were calculated."""
_HAPPENED = (USAGE, SINCE, HELD, TAKEN, USED, STAMP, EFFECTIVE, FACTOR)


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

    def memory(self) -> NDArray[np.float64]:
        """The tree as rows of a policy's memory, the root first."""
        memory = np.zeros(ROOT + WIDTH * (1 + len(self.names)))
        rows = memory[ROOT:].reshape(-1, WIDTH)
        rows[:, [TAKEN, STAMP]] = -1.0
        rows[0, PARENT] = -1.0
        rows[1:, PARENT] = ROOT + WIDTH * (1 + self.parent)
        rows[1:, SHARE], rows[1:, OWNED] = self.shares, self.owned()
        return memory

    def with_usage_of(self, memory: NDArray[np.float64], before: "Accounts") -> NDArray[np.float64]:
        """The tree as rows of a memory, with what accounts and users have used by the `memory` of fewer of them."""
        grown = self.memory()
        old = memory[ROOT : ROOT + WIDTH * (1 + len(before.names))].reshape(-1, WIDTH)
        place = {name: 1 + k for k, name in enumerate(self.names)}
        rows = [(0, 0), *((1 + k, place[name]) for k, name in enumerate(before.names) if name in place)]
        theirs, ours = np.array(rows).T
        grown[ROOT:].reshape(-1, WIDTH)[np.ix_(ours, _HAPPENED)] = old[np.ix_(theirs, _HAPPENED)]
        grown[:ROOT] = memory[:ROOT]
        return grown

    def begins(self) -> NDArray[np.float64]:
        """(jobs) where the row of each job's user begins in the memory."""
        return ROOT + WIDTH * (1.0 + self.user_of_job)
