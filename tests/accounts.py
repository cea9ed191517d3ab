"""The accounts of this process of tests alone: a bench ends all that its accounts run."""

from __future__ import annotations

import atexit
from contextlib import ExitStack

from bot.adapters.builds.run_folder import first_uid
from bot.adapters.processes.process import accounts

_claim = ExitStack()
atexit.register(_claim.close)
OWN = accounts("auto", first=_claim.enter_context(first_uid())).of
