"""How an iteration's trials are split: commits or configurations, exploration or exploitation."""

from __future__ import annotations

from dataclasses import dataclass, replace

R_COMMITS_TO_CONFIGS = 0.5
"""Share of trials at new commits of known configurations at first (section 3.4.2)."""
R_COMMITS_EXPLORE = 0.5
"""Share of these that explore at first (section 3.4.2)."""
S_COMMITS_TO_CONFIGS = 0.95
"""Factor by which the first share shrinks each iteration (section 3.4.2): towards new configurations."""
S_COMMITS_EXPLORE = 0.9
"""Factor by which the second share shrinks each iteration (section 3.4.2): towards exploitation."""


@dataclass(frozen=True)
class Split:
    """Shares of one iteration's trials."""

    commits: float = R_COMMITS_TO_CONFIGS
    explore: float = R_COMMITS_EXPLORE

    def of(self, trials: int) -> tuple[int, int, int]:
        """Trials that explore commits, exploit commits, and go to new configurations; they sum up."""
        at_commits = round(trials * self.commits)
        exploring = round(at_commits * self.explore)
        return exploring, at_commits - exploring, trials - at_commits

    def shifted(self) -> Split:
        """The shares of the next iteration."""
        return replace(
            self, commits=self.commits * S_COMMITS_TO_CONFIGS, explore=self.explore * S_COMMITS_EXPLORE
        )
