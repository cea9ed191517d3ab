"""What trials may reach, and what of their isolation this machine cannot give."""

from __future__ import annotations

from collections.abc import Sequence

from bot.adapters.trials.seats import Answer, Network
from bot.model.errors import UsageError
from bot.model.subject import Program, Subject


def reach(subject: Subject) -> Network:
    """What its trials may reach."""
    assert isinstance(subject.program, Program)
    if subject.sandbox == "off":
        return "open"
    return "none" if subject.program.server is None else "loopback"


def notes(hellos: Sequence[Answer], floor: float, subject: Subject) -> tuple[str, ...]:
    """What was not possible here, one sentence each (missing accounts are told by who makes them).

    hellos: of all workers. floor: bytes of what starts a trial.

    Raises:
        UsageError: servers' trials cannot be kept from the network.
    """
    found = []
    if subject.sandbox != "off":
        reasons = {str(hello["isolation"]) for hello in hellos} - {"namespace", "filter", "ports"}
        if reasons and reach(subject) == "loopback":
            raise UsageError(
                f"program.server: its trials cannot be kept from the network here ({min(reasons)});"
                " run where namespaces or Landlock's ports are allowed, or set sandbox: off"
            )
        found += [f"The network could not be taken from trials ({reason})." for reason in sorted(reasons)]
    if any(hello["isolation"] == "ports" for hello in hellos):
        found.append(
            "Servers and clients share this machine's network: Landlock holds them to one TCP port, of any"
            " address; a network namespace, which would hold them to this machine, needs CAP_SYS_ADMIN."
        )
    if any(metric.name == "max_rss" for metric in subject.metrics):
        size = f"{floor / 2**20:.0f} MB"
        found.append(f"Peak memory below {size} cannot be told apart (the size of what starts a trial).")
    return tuple(found)
