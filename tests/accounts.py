"""The accounts of this process of tests alone: a bench ends all that its accounts run."""

from __future__ import annotations

import atexit
from contextlib import ExitStack

from bot.adapters.process import accounts
from bot.adapters.run_folder import first_uid

_claim = ExitStack()
atexit.register(_claim.close)
OWN = accounts("auto", first=_claim.enter_context(first_uid())).of
