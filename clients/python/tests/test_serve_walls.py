"""Test which files a host may read, and which settings of its parent process it receives."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gradus.serve.__main__ import terms_of
from gradus.serve._link import Host, HostError, Terms, environment_of_host
from gradus.serve.walls import Asked, places_of
from gradus.serve.walls.places import Places, RefusedError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "own"
    (own / "inner" / "deep").mkdir(parents=True)
    for name in ("env.py", "tokens.yaml", "inner/words.txt", "inner/deep/key.pem", "inner/deep/other.txt"):
        (own / name).write_text(name)
    return own


def shown(places: Places, folder: Path) -> set[str]:
    return {os.path.relpath(path, folder) for path in places.readable}


def test_a_folder_without_secrets_is_shown_as_a_whole(folder: Path) -> None:
    places = Places([folder.parent / "elsewhere"])
    places.show(folder)
    assert (shown(places, folder), places.listable) == ({"."}, [])


def test_what_is_hidden_is_left_out_at_any_depth_and_all_else_is_shown(folder: Path) -> None:
    places = Places([folder / "tokens.yaml", folder / "inner/deep/key.pem"])
    places.show(folder)
    assert shown(places, folder) == {"env.py", "inner/words.txt", "inner/deep/other.txt"}
    assert places.listable == [str(folder), str(folder / "inner"), str(folder / "inner/deep")]


def test_what_is_hidden_need_not_be_there_yet(folder: Path) -> None:
    places = Places([folder / ".data"])
    places.show(folder)
    (folder / ".data").mkdir()
    assert shown(places, folder) == {"env.py", "tokens.yaml", "inner"}


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: (folder / "again").hardlink_to(folder / "tokens.yaml"),
        lambda folder: (folder / "again").symlink_to("tokens.yaml"),
        lambda folder: (folder / "again").symlink_to("."),
        lambda folder: (folder / "again").symlink_to(folder.parent),
        lambda folder: (folder / "again").symlink_to("/etc"),
    ],
)
def test_a_second_name_shows_nothing_more(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder)
    places = Places([folder / "tokens.yaml"])
    places.show(folder)
    assert shown(places, folder) == {"env.py", "inner"}


def test_a_hidden_file_that_is_a_link_is_hidden_where_it_leads_to(folder: Path) -> None:
    (folder / "inner" / "real").write_text("a secret")
    (folder / "named").symlink_to("inner/real")
    places = Places([folder / "named"])
    places.show(folder)
    assert shown(places, folder) == {"env.py", "tokens.yaml", "inner/words.txt", "inner/deep"}


def test_an_environment_in_what_is_hidden_is_refused(folder: Path) -> None:
    for hidden in (folder, folder.parent):
        with pytest.raises(RefusedError, match=r"it lies in .* hidden: move it elsewhere"):
            places_of(Asked(own=folder, hidden=[str(hidden)]))
    with pytest.raises(RefusedError, match=r"--allow read=.*key\.pem lies in"):
        places_of(Asked(own=folder, read=[str(folder / "inner/deep/key.pem")], hidden=[str(folder / "inner")]))
    with pytest.raises(RefusedError, match="the root folder"):
        places_of(Asked(own=Path("/")))


def test_of_a_home_folder_what_begins_with_a_dot_is_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".ssh").mkdir()
    (folder / ".netrc").write_text("a password")
    monkeypatch.setenv("HOME", str(folder))
    assert ".ssh" not in shown(places_of(Asked(own=folder)), folder)
    assert {"env.py", "inner"} <= shown(places_of(Asked(own=folder)), folder)


def test_the_start_folder_is_no_package_folder_and_what_lies_deeper_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder / "inner"))
    monkeypatch.syspath_prepend(str(folder))
    found = shown(places_of(Asked(own=None, start_folder=str(folder))), folder)
    assert "inner" in found
    assert not {".", "env.py", "tokens.yaml"} & found


def test_a_host_has_no_variable_that_may_be_a_secret(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("GRADUS_TOKEN", "a secret")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(folder), "packages"]))
    found = environment_of_host(str(folder / "env.py"))
    assert "GRADUS_TOKEN" not in found
    assert found["PYTHONPATH"] == str(folder.parent / "packages")


def test_files_that_a_provider_names_are_hidden_from_what_it_serves() -> None:
    asked = argparse.Namespace(
        workers=1, allow=[], memory_mib=64, generate_seconds=1, verify_seconds=1, token_file="token", tls_key="key"
    )
    assert terms_of(asked).hidden == ["token", "key"]


ENVIRONMENT = """
from pathlib import Path
from gradus.serve import Environment
class Reader(Environment):
    id = "mine/reader"
    description = Path("tokens.yaml").read_text()
"""


@pytest.mark.parametrize("without", [[], ["landlock"], ["namespaces"]])
def test_a_module_cannot_read_what_is_hidden_beside_it(folder: Path, without: list[str]) -> None:
    (folder / "reader.py").write_text(ENVIRONMENT)
    terms = Terms(hidden=[str(folder / "tokens.yaml")], without=without)
    # If the kernel lacks the only wall that is left, nothing runs.
    refused = r"raised (PermissionError|FileNotFoundError).*tokens\.yaml|neither Landlock"
    with pytest.raises(HostError, match=refused):
        asyncio.run(Host.start(str(folder / "reader.py"), terms))


def test_without_any_wall_nothing_is_imported(folder: Path) -> None:
    with pytest.raises(HostError, match=r"neither Landlock .* nor namespaces"):
        asyncio.run(Host.start(str(folder / "env.py"), Terms(without=["landlock", "namespaces"])))
