"""Everybody may write into JupyterHub's exchange: a folder is somebody's only if they own it."""

from dataclasses import replace

import pytest
from exported import handed_in, laid
from submissions import LESSON

from autograder.course import arrivals
from autograder.course.collect import gather

FIRST = "inbound/ada+warm_up+2027-03-01 10:00:00.000000 UTC"
SECOND = "inbound/ada+warm_up+2027-03-02 10:00:00.000000 UTC"


@pytest.fixture
def owned(monkeypatch):
    """Let folders belong to accounts of others, which only root could do on a disk."""
    owners: dict[str, str] = {}
    plain = arrivals._from_file

    def with_owner(path, *rest):
        owner = next((o for folder, o in owners.items() if folder in str(path)), "")
        return replace(plain(path, *rest), owner=owner)

    monkeypatch.setattr(arrivals, "_from_file", with_owner)
    return owners


def files() -> dict[str, str]:
    return {f"{FIRST}/warm_up.ipynb": "Ada", f"{SECOND}/warm_up.ipynb": "later"}


def test_a_folder_in_ada_s_name_that_bob_wrote_replaces_nothing_of_hers(course, tmp_path, owned):
    owned.update({FIRST: "ada", SECOND: "bob"})
    harvest = gather(course, [laid(tmp_path / "exchange", files())])
    assert handed_in(course) == {("ada", LESSON): "Ada"}
    (doubtful,) = harvest.doubtful
    assert doubtful.doubt == "the folder belongs to bob"


@pytest.mark.parametrize("owner", ["ada", ""], ids=["her own", "the collector's"])
def test_a_later_folder_of_her_own_or_of_who_collects_counts(course, tmp_path, owned, owner):
    owned.update({FIRST: owner, SECOND: owner})
    harvest = gather(course, [laid(tmp_path / "exchange", files())])
    assert handed_in(course) == {("ada", LESSON): "later"}
    assert harvest.doubtful == []
