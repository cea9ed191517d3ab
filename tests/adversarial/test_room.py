"""A trial that fills the disk is ended before others have none, and the run says so."""

from __future__ import annotations

import subprocess

import pytest

from tests.end_to_end.builders import Place, shell

FILL = 'for i in $(seq 27); do head -c 20M /dev/zero > "$TMPDIR/fill$i" || exit 8; sleep .5; done; sleep 999'
can_mount = subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0

pytestmark = pytest.mark.skipif(not can_mount, reason="this machine forbids mounting")


def test_who_fills_the_disk_is_ended(place: Place) -> None:
    small = f"mount -t tmpfs -o size=1000m,mode=1777 tmpfs {place.temp}"
    before = ["unshare", "--mount", "sh", "-ec", f'{small}; exec "$@"', "sh"]
    place.pull_request(shell(FILL), shell(FILL, "#"))
    ended = place.pr(budget="45s", before=before)
    assert ended.code == 3 and ended.report is not None
    told = ended.said + str(ended.report)
    assert "left less than 512 MiB" in told
