from __future__ import annotations

from bot.adapters.trials import fingerprint


def test_the_machine_is_described_in_words_a_reader_knows() -> None:
    machine = fingerprint.environment(("sh", "no-such-tool"), load_before=0.5)
    assert machine.cpu
    assert machine.kernel
    assert machine.image
    assert machine.cores >= 1
    assert machine.load is not None
    assert machine.load[0] == 0.5
    assert "no-such-tool" not in machine.tools


def test_every_runtime_names_its_tools() -> None:
    assert set(fingerprint.TOOLS) == {"native", "python", "jvm", "node"}
