"""Settings are read once, from a mapping, with one line for what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.model.errors import UsageError
from bot.settings import Settings


def test_nothing_set_gives_the_defaults() -> None:
    settings = Settings.read({})
    assert settings.inputs.mode == "auto"
    assert settings.inputs.comment == "always"
    assert settings.github_token is None
    assert not settings.on_github


def test_inputs_are_read_with_their_dashes() -> None:
    settings = Settings.read({"INPUT_FAIL-ON": "regression, violation", "INPUT_GITHUB-TOKEN": "t0ken"})
    assert settings.inputs.fail_on == {"regression", "violation"}
    assert settings.github_token == "t0ken"


def test_inputs_may_come_with_underscores_from_a_shell() -> None:
    settings = Settings.read({"INPUT_FAIL_ON": "violation", "INPUT_BUDGET": "5m"})
    assert settings.inputs.fail_on == {"violation"}
    assert settings.inputs.budget == 300


def test_an_empty_input_is_an_absent_one() -> None:
    assert Settings.read({"INPUT_CONFIG": "", "INPUT_BUDGET": "", "INPUT_MODE": ""}) == Settings.read({})


def test_the_runner_tells_who_and_where() -> None:
    settings = Settings.read(
        {
            "GITHUB_REPOSITORY": "octo/tools",
            "GITHUB_RUN_ID": "77",
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_EVENT_PATH": "/event.json",
            "RUNNER_TEMP": "/tmp/r",
        }
    )
    assert (settings.repository, settings.run_id, settings.run_attempt) == ("octo/tools", 77, 2)
    assert (settings.event_path, settings.temp) == (Path("/event.json"), Path("/tmp/r"))


@pytest.mark.parametrize(
    ("server", "repository", "address"),
    [
        ("https://github.com", "ann/tools", "https://github.com/ann/tools"),
        ("https://git.example:8443/", "ann/tools", "https://git.example:8443/ann/tools"),
        ("http://localhost", "ann/tools", ""),
        ("https://github.com", "../evil", ""),
        ("https://github.com", None, ""),
    ],
)
def test_files_can_be_read_where_the_repository_is(server: str, repository: str | None, address: str) -> None:
    settings = Settings.read({"GITHUB_SERVER_URL": server})
    assert settings.address(repository) == address


def test_a_token_is_never_shown() -> None:
    settings = Settings.read({"INPUT_GITHUB-TOKEN": "s3cret", "GITHUB_TOKEN": "s3cret"})
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"INPUT_MODE": "daily"}, ("input mode", "daily", "nightly")),
        ({"INPUT_COMMENT": "sometimes"}, ("input comment", "sometimes", "on-change")),
        ({"INPUT_FAIL-ON": "regression,rain"}, ("input fail-on", "rain", "violation")),
        ({"INPUT_BUDGET": "soon"}, ("input budget", "soon", "5m")),
        ({"INPUT_BUDGET": "0"}, ("input budget", "above zero")),
        ({"INPUT_RANGE": "--upload-pack=x..y"}, ("input range", "GOOD..BAD")),
        ({"INPUT_RANGE": "v1"}, ("input range", "GOOD..BAD")),
        ({"INPUT_RANGE": "v1..--all"}, ("input range", "GOOD..BAD")),
        ({"GITHUB_REPOSITORY": "octo/../x"}, ("environment variable GITHUB_REPOSITORY", "owner/name")),
        ({"GITHUB_RUN_ID": "x"}, ("environment variable GITHUB_RUN_ID", "integer")),
    ],
)
def test_a_wrong_value_is_one_clear_line(environ: dict[str, str], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.read(environ)
    text = str(caught.value)
    assert "\n" not in text
    assert all(word in text for word in words), text


def test_only_settings_reads_the_environment() -> None:
    root = Path(__file__).parents[2] / "bot"
    readers = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in ("os.environ", "getenv"))
    }
    # confine.py is a program of its own, started in the child: it hands its (clean) environment on.
    assert readers <= {"settings.py", "adapters/processes/confine.py"}
