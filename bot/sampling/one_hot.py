"""Configurations as numbers of single values, for counting pairs of them in arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bot.model.space import Configuration, Level, Space, Value


class OneHot:
    """Numbers every value of every option: `columns` of them, those of option i from `starts[i]`.

    `owner[k]` is the option of column k.
    """

    def __init__(self, space: Space) -> None:
        sizes = [len(o.values) for o in space.options]
        self.starts: npt.NDArray[np.intp] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.columns = int(self.starts[-1])
        self.owner: npt.NDArray[np.intp] = np.repeat(np.arange(len(sizes)), sizes)
        self._options = space.options
        self._places: list[dict[Value, int]] = [
            {value: int(start) + k for k, value in enumerate(o.values)}
            for o, start in zip(space.options, self.starts[:-1], strict=True)
        ]

    def encode(self, configuration: Configuration) -> npt.NDArray[np.intp]:
        """Column of each option's value, shape (n_options,)."""
        return np.array([p[v] for p, v in zip(self._places, configuration, strict=True)], dtype=np.intp)

    def decode(self, columns: npt.NDArray[np.intp]) -> Configuration:
        """The configuration of one column per option, in the order of options."""
        picks = (columns - self.starts[:-1]).tolist()
        return tuple(o.values[k] for o, k in zip(self._options, picks, strict=True))

    def level(self, column: int) -> Level:
        """The single-value level of a column."""
        option = self._options[int(self.owner[column])]
        value = option.values[column - int(self.starts[self.owner[column]])]
        if option.kind == "flag":
            return Level(option.name, "on" if value else "off", value)
        return Level(option.name, "=", value)
