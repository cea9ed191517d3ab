"""Exceptions: one class for each decision a caller takes."""


class SuspectsError(Exception):
    """Base of all errors we raise on purpose; its text is one clear line for a person.

    `exit_code` is what the command ends with. Add the remedy with `add_note`.
    """

    exit_code = 2

    @property
    def told(self) -> str:
        """Its text, and its remedies as sentences of their own."""
        remedies = getattr(self, "__notes__", [])
        text = str(self)
        stop = "." if remedies and text[-1:] not in (".", "!", "?", ":") else ""
        return " ".join([text + stop, *remedies])


class UsageError(SuspectsError):
    """A wrong command line, configuration file or repository: the person must change something."""


class ConstraintError(UsageError):
    """Constraints that cannot be read or contradict each other; `indices` are their places in the list."""

    def __init__(self, message: str, indices: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.indices = indices


class NotWantedError(SuspectsError):
    """The subject's `run_on` leaves this pull request out: nothing was measured, and nothing is wrong."""

    exit_code = 0


class NothingMeasuredError(SuspectsError):
    """No pair of trials could be completed: the run must not look green."""

    exit_code = 3


class BuildFailedError(SuspectsError):
    """A build (or setup, or prepare) ended badly; the report carries its log."""

    exit_code = 3

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class ForgeError(SuspectsError):
    """GitHub refused or did not answer after all retries."""

    exit_code = 3


class ForgeRefusedError(ForgeError):
    """The token may not do this; a finished measurement need not fail because of it."""


class ArtifactError(SuspectsError):
    """What an unprivileged run left is missing, too large or not a report: nothing of it is published."""

    exit_code = 3


class HistoryError(SuspectsError):
    """History could not be read or written there; a finished measurement need not fail because of it."""

    exit_code = 3


class NewerSegmentError(HistoryError):
    """A segment was written by a later version: left alone, and not read."""


class DamagedSegmentError(HistoryError):
    """A segment's bytes are not what was written: set aside, and not read."""
