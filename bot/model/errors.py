"""Exceptions: one class for each decision a caller takes."""


class SuspectsError(Exception):
    """Base of all errors we raise on purpose; its text is one clear line for a person.

    `exit_code` is what the command ends with. Add the remedy with `add_note`.
    """

    exit_code = 2


class UsageError(SuspectsError):
    """A wrong command line, configuration file or repository: the person must change something."""


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
