"""Distinguishes a wrong address or wrong options from a server that is not running."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import grpc

from gradus._listener import Listener, certificate_problem, listener_at
from gradus.errors import ConnectionMistake, GradusError, error_of, error_of_rpc
from gradus.v1 import environment_pb2

if TYPE_CHECKING:
    from gradus._channels import Address
    from gradus._credentials import Tls

_PORT_MAX = 65_535

_RESOLVED = re.compile(r"(dns|unix|unix-abstract|ipv4|ipv6|xds|vsock):(?!\d+$)")
"""Matches names that gRPC's resolvers read, e.g. "dns:///host:port" (gRPC's naming document)."""

_HOST_AND_PORT = re.compile(r"(?:\[([\da-f:.]+)\]|([^\s:/?#@\[\]]+)):(\d{1,5})", re.IGNORECASE)

_FOREIGN = (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
"""Status codes that calls get from servers other than Gradus, with or without gRPC."""

_UNCONNECTED = re.compile(r"failed to connect|errors resolving|Deadline Exceeded", re.IGNORECASE)
"""Matches gRPC's errors for a call that may have had no connection to a server."""

_GRPC_PORT = "give the server's gRPC port, 50051 by default"

_ASK_SECONDS = 2.0
"""Seconds that a server has, after a failure, to show whether it is a Gradus server."""


def check_target(target: str) -> None:
    """Raises TypeError or ValueError with the remedy unless the target is host:port or a name of gRPC's resolvers."""
    if not isinstance(target, str):
        raise TypeError(
            f"target: want host:port as str, e.g. 'localhost:50051'; got {type(target).__name__} {target!r}"
        )
    if _RESOLVED.match(target) or _host_and_port(target):
        return
    scheme, separator, rest = target.rpartition("://")
    bare = re.split("[/?#]", rest)[0]
    extra = [*(["a scheme"] if separator else []), *(["a path"] if bare != rest else [])]
    if extra and _host_and_port(bare):
        secure = ", and ask for TLS by tls=Tls()" if scheme.lower() in ("https", "grpcs", "tls") else ""
        problem = f"it has {' and '.join(extra)}: write '{bare}'{secure}"
    elif re.fullmatch(r"[^\s:]+", bare):
        problem = f"it has no port: write '{bare}:50051', or the port that the server was given"
    else:
        problem = f"it is not one host and one port from 1 to {_PORT_MAX}"
    wanted = "target: want host:port of the server's gRPC port, e.g. localhost:50051"
    raise ValueError(f"{wanted}; got '{target}': {problem}")


def _host_and_port(address: str) -> tuple[str, int] | None:
    found = _HOST_AND_PORT.fullmatch(re.sub(r"^dns:(?!\d+$)(///)?", "", address))
    if found is None or not 1 <= int(found[3]) <= _PORT_MAX:
        return None
    return found[1] or found[2], int(found[3])


def explained(error: GradusError, address: Address) -> GradusError:
    """Returns the error, with its reason if the address or the options may be wrong. Blocks on sockets."""
    if address.reached.yes or error.retry_delay is not None:
        return error
    if error.code in _FOREIGN:
        finding = _foreign(error, address)
    elif _UNCONNECTED.search(error.message):
        finding = _unconnected(error, address)
    else:
        return error
    return error if finding is None else error_of(error.code, finding[1], mistake=finding[0])


Finding = tuple["ConnectionMistake | None", str]
"""A mistake in the client's address or options, and the text of its error. None: the server may only be down."""


def _foreign(error: GradusError, address: Address) -> Finding | None:
    """Makes a call that every Gradus server answers, and returns the mistake that its failure shows; None: none."""
    with address.open() as channel:
        method = channel.unary_unary(
            "/gradus.v1.EnvironmentService/ListEnvironments",
            request_serializer=environment_pb2.ListEnvironmentsRequest.SerializeToString,
            response_deserializer=environment_pb2.ListEnvironmentsResponse.FromString,
        )
        try:
            method(environment_pb2.ListEnvironmentsRequest(), timeout=_ASK_SECONDS, metadata=address.metadata)
        except grpc.RpcError as failure:
            other = error_of_rpc(failure, address.target)
        else:
            return None
    if other.code not in _FOREIGN:
        return None
    return _not_gradus(address.target, f"speaks gRPC without gradus.v1 (it says: {other.message})")


def _unconnected(error: GradusError, address: Address) -> Finding | None:
    place = _host_and_port(address.target)
    listener = None if place is None else listener_at(*place)
    return None if listener is None else _finding(address, listener, error.message)


def _not_gradus(target: str, what: str) -> Finding:
    return "not_gradus", f"{target} {what}, and is no Gradus server's gRPC port: {_GRPC_PORT}"


def _finding(address: Address, listener: Listener, reason: str) -> Finding | None:
    """Returns the mistake in the client's address or options that the program at the address reveals; None: none."""
    target, wanted = address.target, address.tls is not None
    finding: Finding | None = None
    if listener.gradus:
        finding = "http_port", f"{target} is the HTTP port of a Gradus server: {_GRPC_PORT}"
    elif listener.protocol == "http1":
        finding = _not_gradus(target, "answers HTTP/1.1, as web servers do")
    elif listener.protocol == "other":
        finding = _not_gradus(target, "speaks neither HTTP/2 nor TLS")
    elif listener.protocol == "silent" and not listener.tls:
        cause = "it is no Gradus server's gRPC port, or a proxy whose server is down"
        finding = None, f"{target} takes connections and says nothing: {cause}"
    elif wanted and not listener.tls:
        finding = "no_tls", f"{target} speaks no TLS: leave tls out"
    elif not wanted and listener.tls:
        words = "give tls=Tls(), or Tls(ca=…) with the certificates that vouch for it"
        finding = "needs_tls", f"{target} speaks TLS: {words}"
    elif address.tls is not None:
        finding = "certificate", f"no TLS connection to {target}: {_certificate_words(address, address.tls, reason)}"
    return finding


def _certificate_words(address: Address, tls: Tls, reason: str) -> str:
    place = _host_and_port(address.target)
    shown = None if tls.cert is None else str(tls.cert)
    problem = None if place is None else certificate_problem(*place, tls.context(), shown)
    if problem is not None:
        return problem
    plain = reason.removeprefix(f"no Gradus server answers at {address.target}: ")
    return f"{plain}: check Tls.ca, and Tls.cert and Tls.key if the server asks for a certificate"
