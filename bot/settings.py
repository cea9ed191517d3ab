"""Action inputs and the runner's environment, read once from a mapping; the only reader of `os.environ`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)

from bot.model.errors import UsageError
from bot.model.forge import CommentPolicy
from bot.model.quantities import parse_seconds

ModeInput: TypeAlias = Literal["auto", "pull_request", "nightly", "bisect", "publish", "shard", "merge"]
Failing: TypeAlias = Literal["regression", "violation"]
_RANGE = re.compile(r"(?P<good>[^\s.-][^\s]*?)\.\.(?P<bad>[^\s.-]\S*)")
_SERVER = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


def environment() -> dict[str, str]:
    """A copy of our own environment (what `pass_env` chooses from, and what `Settings.read` is given)."""
    return dict(os.environ)


def _duration(value: object) -> float | None:
    seconds = None if value is None else parse_seconds(value)
    if seconds is not None and seconds <= 0:
        raise ValueError("a duration above zero is needed")
    return seconds


def _words(value: object) -> object:
    return tuple(word.strip() for word in value.split(",")) if isinstance(value, str) else value


class Inputs(BaseModel):
    """The action's inputs under their own names (action.yml is held equal to this by a test)."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    mode: ModeInput = "auto"
    config: Path | None = None
    github_token: SecretStr | None = Field(default=None, alias="github-token")
    budget: Annotated[float | None, BeforeValidator(_duration)] = None
    range: str | None = None
    shard: str | None = Field(default=None, max_length=4000)
    fail_on: Annotated[frozenset[Failing], BeforeValidator(_words)] = Field(frozenset(), alias="fail-on")
    comment: CommentPolicy = "always"

    @field_validator("range")
    @classmethod
    def _is_range(cls, value: str | None) -> str | None:
        if value is not None and not _RANGE.fullmatch(value):
            raise ValueError("GOOD..BAD is needed, such as v1.0..v1.1")
        return value


class Settings(BaseModel):
    """What the runner tells: who, where, which event. Paths are None outside GitHub Actions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inputs: Inputs = Inputs()
    api_url: str = Field("https://api.github.com", alias="GITHUB_API_URL")
    server_url: str = Field("https://github.com", alias="GITHUB_SERVER_URL")
    repository: str | None = Field(None, alias="GITHUB_REPOSITORY")
    event_name: str | None = Field(None, alias="GITHUB_EVENT_NAME")
    event_path: Path | None = Field(None, alias="GITHUB_EVENT_PATH")
    ref: str | None = Field(None, alias="GITHUB_REF")
    run_id: int | None = Field(None, alias="GITHUB_RUN_ID")
    run_attempt: int = Field(1, alias="GITHUB_RUN_ATTEMPT")
    workspace: Path | None = Field(None, alias="GITHUB_WORKSPACE")
    output: Path | None = Field(None, alias="GITHUB_OUTPUT")
    step_summary: Path | None = Field(None, alias="GITHUB_STEP_SUMMARY")
    temp: Path | None = Field(None, alias="RUNNER_TEMP")
    token: SecretStr | None = Field(None, alias="GITHUB_TOKEN")

    @field_validator("repository")
    @classmethod
    def _is_repository(cls, value: str | None) -> str | None:
        if value is not None and not _REPOSITORY.fullmatch(value):
            raise ValueError("owner/name is needed")
        return value

    @property
    def on_github(self) -> bool:
        """Whether a workflow runs us (logs are then read as commands)."""
        return self.event_path is not None

    def event(self) -> dict[str, Any]:
        """What GitHub says of the event that started us.

        Raises:
            UsageError: there is none, or it cannot be read.
        """
        try:
            payload: dict[str, Any] = json.loads((self.event_path or Path()).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"the event {self.event_path} cannot be read: {error}") from error
        return payload

    def address(self, repository: str | None = None) -> str:
        """Where people read the files of a repository (None: ours); "" when that is not known."""
        name, server = repository or self.repository, self.server_url.rstrip("/")
        return f"{server}/{name}" if _SERVER.fullmatch(server) and _REPOSITORY.fullmatch(name or "") else ""

    @property
    def github_token(self) -> str | None:
        """The token to speak with: the input, else GITHUB_TOKEN (a person's shell)."""
        token = self.inputs.github_token or self.token
        return token.get_secret_value() if token else None

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Settings:
        """Settings from `INPUT_*` (dashes kept, or underscores), `GITHUB_*` and `RUNNER_*`; empty is absent.

        Raises:
            UsageError: a value is wrong: one line with its name, what is wrong and what is allowed.
        """
        facts: dict[str, Any] = {name: environ[name] for name in _aliases(cls) if environ.get(name)}
        given = {
            name: environ.get(variable) or environ.get(variable.replace("-", "_"))
            for name, variable in INPUT_VARIABLES.items()
        }
        try:
            inputs = Inputs.model_validate({name: value for name, value in given.items() if value})
            return cls.model_validate({**facts, "inputs": inputs})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = first["loc"][0] if first["loc"] else "settings"
            kind = "input" if name in INPUT_VARIABLES else "environment variable"
            shown = "" if name in ("github-token", "GITHUB_TOKEN") else f" {str(first['input'])[:80]!r}"
            reason = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"{kind} {name}{shown}: {reason}") from None


def _aliases(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items() if name != "inputs"]


INPUT_VARIABLES: Mapping[str, str] = {name: f"INPUT_{name.upper()}" for name in _aliases(Inputs)}
"""Input name -> the variable GitHub passes it in."""
OUTPUTS = ("verdict", "report", "comment-url")
"""What a step of ours gives to later steps."""
