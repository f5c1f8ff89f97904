"""Makes and verifies tasks of one level by a host, for tests of mounted environments."""

from __future__ import annotations

from collections.abc import Sequence

from gradus.serve._link import Host
from gradus.serve._trial import found_in_words
from gradus.v1 import provider_pb2 as pb


class Asked:
    """One level of an environment, whose tasks a host makes and verifies."""

    def __init__(self, environment: pb.ProvidedEnvironment, level: pb.ProviderLevel) -> None:
        self.environment = environment
        self.level = level

    async def make(self, host: Host, seeds: Sequence[int]) -> list[pb.GenerateResponse]:
        """Returns the host's responses for seeds, each an instance or a failure, in order."""
        request = pb.GenerateRequest(
            environment=self.environment.id,
            version=self.environment.version,
            digest=self.environment.digest,
            level=self.level.name,
            parameters_json=self.level.parameters_json,
            seeds=seeds,
        )
        return [made async for made in host.generate(request)]

    async def verify(self, host: Host, instance: bytes, texts: Sequence[str]) -> list[pb.VerifyResponse]:
        """Returns the host's results for answers, each facts or a failure, in order."""
        request = pb.VerifyRequest(
            environment=self.environment.id,
            version=self.environment.version,
            digest=self.environment.digest,
            instance=instance,
            answers=[pb.ProvidedAnswer(index=index, text=text) for index, text in enumerate(texts)],
        )
        return [found async for found in host.verify(request)]


def words(response: pb.GenerateResponse | pb.VerifyResponse) -> str:
    """Describes a response in a few words, e.g. "timeout" with its detail, or "graded, score 0.05"."""
    kind = response.WhichOneof("result")
    if kind == "failure":
        name = pb.ProviderFailureKind.Name(response.failure.kind).removeprefix("PROVIDER_FAILURE_KIND_").lower()
        return f"{name}, {response.failure.detail}"
    if isinstance(response, pb.VerifyResponse):
        return found_in_words(response.facts)
    return f"exhausted, {response.exhausted}" if kind == "exhausted" else "an instance"


def plain(response: pb.GenerateResponse | pb.VerifyResponse) -> bytes:
    """Returns a response without its index, for comparison."""
    place, response.index = response.index, 0
    data = response.SerializeToString(deterministic=True)
    response.index = place
    return data
