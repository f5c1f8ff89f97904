"""Test a host: a process that holds the mounted environments, with workers behind walls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import grpc
import pytest
import trustme

from gradus.serve._level import Asked, words
from gradus.serve._link import Host, HostError, Terms
from gradus.serve._new import new
from gradus.serve._remote import Access, OptionError, open_server
from gradus.v1 import outcome_pb2, provider_pb2_grpc
from gradus.v1 import provider_pb2 as pb

FOLDER = Path(__file__).parent / "environments"
# Some answers allocate 384 MB, which takes a second of processor time on a machine that is short of memory.
TERMS = Terms(workers=1, memory_mib=512, generate_ms=500, verify_ms=3000)

T = TypeVar("T")


class Session:
    """A host that several tests share, in a loop of their own."""

    def __init__(self, target: str) -> None:
        self._loop = asyncio.new_event_loop()
        self.host = self.run(Host.start(target, TERMS))

    def run(self, awaited: Awaitable[T]) -> T:
        return self._loop.run_until_complete(awaited)

    def close(self) -> None:
        self.run(self.host.close())
        self._loop.close()

    def asked(self, environment: str, level: int = 0) -> Asked:
        found = next(each for each in self.host.ready.described.environments if each.id == environment)
        return Asked(found, found.levels[level])

    def verdicts(self, environment: str, texts: Sequence[str]) -> list[str]:
        asked = self.asked(environment)
        (made,) = self.run(asked.make(self.host, [1]))
        given = [made.made.reference if text == "reference" else text for text in texts]
        return [words(each) for each in self.run(asked.verify(self.host, made.made.instance, given))]


@pytest.fixture(scope="module")
def hostile() -> Iterator[Session]:
    session = Session(str(FOLDER / "hostile.py"))
    yield session
    session.close()


def test_what_cannot_be_served_is_left_out_by_name(hostile: Session) -> None:
    left_out = {each.name: each.reason for each in hostile.host.ready.described.left_out}
    levels = {name.removeprefix("bad/levels#"): reason for name, reason in left_out.items()}
    assert "lower-case words" in levels.pop("Bad Name")
    assert "processor time" in levels.pop("endless")
    assert "generate returned nothing" in levels.pop("nothing")
    assert levels.pop("raises") == "ValueError: no such board"
    assert "builtins.object, which cannot be sent" in levels.pop("object")
    assert "status 3" in levels.pop("exits")
    assert levels == {}


def test_what_goes_wrong_with_an_answer_is_told_of_that_one(hostile: Session) -> None:
    texts = ["raise", "nan", "number", "reference", "exit", "reference", "gone", "fork", "write", "read"]
    found = hostile.verdicts("bad/verifier", [*texts, "connect", "thread", "reference"])
    # A host with namespaces of its own has no such file, and one without may not read it.
    unread = found.pop(9)
    assert re.search(r"No such file or directory|Permission denied", unread) and "'/etc/passwd'" in unread
    assert found == [
        "raised, KeyError: 'a key that is not there'",
        "raised, verify gave nan, a number, where it gave True or False at mounting: give numbers always, "
        'or declare components = ["score"]',
        "raised, verify gave 0.5, a number, where it gave True or False at mounting: give numbers always, "
        'or declare components = ["score"]',
        "feasible",
        "crashed, it ended its process, with status 0",
        "feasible",
        "unavailable, the store is closed",
        "raised, PermissionError: [Errno 1] Operation not permitted",
        "raised, PermissionError: [Errno 13] Permission denied: '/tmp/gradus-written'",
        "raised, PermissionError: [Errno 1] Operation not permitted",
        "raised, RuntimeError: can't start new thread",
        "feasible",
    ]


def test_time_and_memory_are_bounded(hostile: Session) -> None:
    found = hostile.verdicts("bad/verifier", ["hang", "memory", "reference"])
    assert found[0].startswith("timeout, ")
    assert found[1:] == ["memory, it used more memory than allowed", "feasible"]


@pytest.mark.parametrize("answer", ["hoard", "store", "settle"])
def test_what_an_environment_holds_on_to_is_not_felt_by_what_comes_after(hostile: Session, answer: str) -> None:
    (made,) = hostile.run(hostile.asked("bad/verifier").make(hostile.host, [1]))
    # Each in a request of its own, and two in one.
    for answers in [[answer], [answer], [answer, answer], [made.made.reference]]:
        assert hostile.verdicts("bad/verifier", answers) == ["feasible"] * len(answers)


def test_what_an_environment_loads_once_is_loaded_once(hostile: Session) -> None:
    hostile.run(hostile.host.kill_workers())
    assert len({hostile.verdicts("bad/table", ["where?"])[0] for _ in range(5)}) == 1


def test_tasks_of_a_generator_that_holds_on_to_memory_are_the_same_in_any_order(hostile: Session) -> None:
    asked = hostile.asked("bad/leak")
    seeds = list(range(12))
    made = hostile.run(asked.make(hostile.host, seeds))
    # Without enough memory all instances would be the same.
    assert len({each.made.instance for each in made}) == 12
    again = hostile.run(asked.make(hostile.host, seeds[::-1]))[::-1]
    assert [each.made for each in again] == [each.made for each in made]


@pytest.fixture
def doomed() -> Iterator[Session]:
    session = Session(str(FOLDER / "hostile.py"))
    yield session
    session.close()


def test_a_host_that_is_gone_fails_what_is_asked_of_it_and_says_so(doomed: Session) -> None:
    host, asked = doomed.host, doomed.asked("bad/verifier")
    (made,) = doomed.run(asked.make(host, [1]))

    async def ask_and_kill() -> list[str]:
        verdicts = asyncio.create_task(asked.verify(host, made.made.instance, ["hang", "hang"]))
        # After this the worker has the call.
        await asyncio.sleep(0)
        host.kill()
        return [words(found) for found in await asyncio.wait_for(verdicts, 60)]

    async def make() -> list[str]:
        await asyncio.wait_for(host.ended(), 60)
        return [words(each) for each in await asyncio.wait_for(asked.make(host, [1, 2]), 60)]

    # One call is under way when the host is killed, and the other one follows.
    for told in (doomed.run(ask_and_kill()), doomed.run(make())):
        assert told == ["unavailable, the host has ended: start it again"] * 2


def test_an_answer_that_is_run_changes_nothing_for_the_next(hostile: Session) -> None:
    texts = ["left.append('x') or True", "reference", "__import__('os')._exit(0)", "9**9**9", "reference"]
    found = hostile.verdicts("bad/code", texts)
    assert found[:3] == ["feasible", "feasible", "crashed, it ended its process, with status 0"]
    assert found[3].startswith("timeout, ")
    assert found[4] == "feasible"


def test_another_digest_is_not_served(hostile: Session) -> None:
    asked = hostile.asked("bad/verifier")
    asked.environment = pb.ProvidedEnvironment(id="bad/verifier", version=1, digest="0" * 64)
    (made,) = hostile.run(asked.make(hostile.host, [1]))
    assert made.failure.kind == pb.PROVIDER_FAILURE_KIND_UNAVAILABLE
    assert "digest 000000000000" in made.failure.detail


def test_a_file_that_does_not_import_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(HostError, match="needs the package nowhere_to_be_found"):
        asyncio.run(Host.start(str(tmp_path / "broken.py"), TERMS))


def test_new_writes_a_file_once(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert new("my_env.py") == 0
    assert new("my_env.py") == 1
    assert new("my-env.py") == new("my_env.txt") == 2
    assert "exists already" in capsys.readouterr().err


def over_grpc(access: Access, ask: Callable[[str], Awaitable[T]]) -> T:
    async def run() -> T:
        host = await Host.start(str(FOLDER / "reverse.py"), TERMS)
        server, port = await open_server(host, access)
        try:
            return await ask(f"localhost:{port}")
        finally:
            await server.stop(None)
            await host.close()

    return asyncio.run(run())


def test_a_provider_over_grpc_asks_for_its_token_and_names_what_it_lacks(tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    access = Access("localhost:0", "secret", str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"))
    trusted = grpc.ssl_channel_credentials(authority.cert_pem.bytes())
    allowed = (("authorization", "Bearer secret"),)

    async def ask(address: str) -> None:
        async with grpc.aio.secure_channel(address, trusted) as channel:
            stub: Any = provider_pb2_grpc.EnvironmentProviderStub(channel)
            for metadata in (None, (("authorization", "Bearer other"),)):
                with pytest.raises(grpc.aio.AioRpcError, match="UNAUTHENTICATED"):
                    await stub.Describe(pb.DescribeRequest(), metadata=metadata)
            described = await stub.Describe(pb.DescribeRequest(), metadata=allowed)
            environment = next(each for each in described.environments if each.id == "test/reverse")
            request = pb.GenerateRequest(environment="test/reverse", version=1, level="short", seeds=[1, 2])
            request.parameters_json = environment.levels[0].parameters_json
            made = [each async for each in stub.Generate(request, metadata=allowed)]
            assert [each.index for each in made] == [0, 1]
            verify = pb.VerifyRequest(environment="test/reverse", version=1, instance=made[0].made.instance)
            answers = [pb.ProvidedAnswer(index=7, text=made[0].made.reference), pb.ProvidedAnswer(index=3, text="no")]
            verify.answers.extend(answers)
            found = {each.index: each.facts.verdict async for each in stub.Verify(iter([verify]), metadata=allowed)}
            assert found == {7: outcome_pb2.VERDICT_FEASIBLE, 3: outcome_pb2.VERDICT_INFEASIBLE}
            for name, digest, code in (("x", "", "NOT_FOUND"), ("test/reverse", "0" * 64, "FAILED_PRECONDITION")):
                asked = pb.GenerateRequest(environment=name, version=1, level="short", digest=digest)
                with pytest.raises(grpc.aio.AioRpcError, match=code):
                    [each async for each in stub.Generate(asked, metadata=allowed)]

    over_grpc(access, ask)


@pytest.mark.parametrize(
    ("access", "message"),
    [
        (Access("0.0.0.0:50061"), "not a loopback address"),
        (Access("nowhere"), "no host and port"),
        (Access("localhost:1", cert="c"), "must be given together"),
    ],
)
def test_a_provider_open_to_all_is_refused(access: Access, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        access.check()


MANY = """
from gradus.serve import Environment

class Many(Environment):
    id = "many/numbers"
    levels = {str(number): {"number": number} for number in range(COUNT)}

    def generate(self, rng, number):
        if number == 1:
            raise ValueError("there is no 1")
        return rng.randrange(10**9)

    def prompt(self, instance):
        return f"Say {instance}."

    def verify(self, instance, answer):
        return 1.0 if answer == str(instance) else 0.0
"""


@pytest.mark.parametrize(("count", "left"), [(256, 255), (1000, 1000)])
def test_of_more_than_256_levels_a_host_tries_the_first_of_each_environment(
    tmp_path: Path, count: int, left: int
) -> None:
    (tmp_path / "many.py").write_text(MANY.replace("COUNT", str(count)))
    session = Session(str(tmp_path / "many.py"))
    try:
        described = session.host.ready.described
        (environment,) = described.environments
        assert len(environment.levels) == left
        assert [each.name for each in described.left_out] == ["many/numbers#1"][: count - left]
        # The first level tells that answers get numbers.
        assert [each.name for each in environment.components] == ["score"]
    finally:
        session.close()
