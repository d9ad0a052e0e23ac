"""Answers of the name server, made from the documents of zones."""

from collections.abc import Iterator
from ipaddress import ip_address

import dns.exception
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from localcloud.core.store import Document
from localcloud.dns.model.state import DEFAULT_TTL, State

_MOST_ALIASES = 8
_PLAIN_BYTES = 512
_MOST_BYTES = 4096


def answer(state: State, wire: bytes, most: int | None = None) -> bytes | None:
    """Return the answer to a query, or None if the message is not a query.

    The answer has up to ``most`` bytes, or the size of datagrams that the client accepts.
    """
    try:
        query = dns.message.from_wire(wire)
        if query.flags & dns.flags.QR:
            return None
        reply = dns.message.make_response(query)
    except (dns.exception.DNSException, ValueError):
        return None
    if query.opcode() != dns.opcode.QUERY or len(query.question) != 1:
        reply.set_rcode(dns.rcode.NOTIMP)
        return reply.to_wire()
    _fill(state, query, reply)
    size = most or min(max(query.payload, _PLAIN_BYTES), _MOST_BYTES)
    try:
        return reply.to_wire(max_size=size)
    except dns.exception.TooBig:
        short = dns.message.make_response(query)
        short.flags |= dns.flags.TC | dns.flags.AA
        return short.to_wire()


def _fill(state: State, query: dns.message.Message, reply: dns.message.Message) -> None:
    asked = query.question[0]
    name, kind = asked.name.to_text().lower(), dns.rdatatype.to_text(asked.rdtype)
    pointer = _pointer(state, name)
    zone = _zone_of(state, name)
    if asked.rdclass != dns.rdataclass.IN or (zone is None and pointer is None):
        reply.set_rcode(dns.rcode.REFUSED)
        return
    reply.flags |= dns.flags.AA
    if pointer is not None:
        if kind in ("PTR", "ANY"):
            reply.answer.append(_rrset(name, pointer["ttl"], "PTR", [pointer["ptrdname"]]))
        return
    for _ in range(_MOST_ALIASES):
        if zone is None:
            return
        found = _found(state, zone, name)
        if below := _handed_on(state, zone, name):
            reply.flags &= ~dns.flags.AA
            reply.authority.append(_rrset(below["name"], _ttl(below, zone), "NS", below["records"]))
            return
        chosen = [each for each in found if each["type"] in (kind, "CNAME") or kind == "ANY"]
        for each in chosen:
            reply.answer.append(_rrset(name, _ttl(each, zone), each["type"], each["records"]))
        alias = next((e for e in chosen if e["type"] == "CNAME" and kind != "CNAME"), None)
        if alias is None:
            if not chosen:
                _deny(state, zone, reply, bool(found))
            return
        name = alias["records"][0].lower()
        zone = _zone_of(state, name)


def _deny(state: State, zone: Document, reply: dns.message.Message, known: bool) -> None:
    for each in state.recordsets.find(zone_id=zone["id"], name=zone["name"]):
        if each["type"] == "SOA":
            reply.authority.append(_rrset(zone["name"], zone["ttl"], "SOA", each["records"]))
    if not known and not reply.answer:
        reply.set_rcode(dns.rcode.NXDOMAIN)


def _zone_of(state: State, name: str) -> Document | None:
    """Return the innermost zone that a name lies in."""
    for each in _itself_and_above(name):
        for zone in state.zones.find(name=each):
            if zone["action"] != "DELETE":
                return zone
    return None


def _itself_and_above(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.partition(".")[2]


def _found(state: State, zone: Document, name: str) -> list[Document]:
    """Return the record sets of a name, or those for all names beside it."""
    found = _alive(state, zone, name)
    if found or name == zone["name"]:
        return found
    ending = f".{name}"
    if any(each["name"].endswith(ending) for each in state.of_zone(zone)):
        return []
    return _alive(state, zone, f"*.{name.partition('.')[2]}")


def _alive(state: State, zone: Document, name: str) -> list[Document]:
    found = state.recordsets.find(zone_id=zone["id"], name=name)
    return [each for each in found if each["action"] != "DELETE" and each["records"]]


def _handed_on(state: State, zone: Document, name: str) -> Document | None:
    """Return the record set that names the servers of a part of a zone."""
    for each in _itself_and_above(name):
        if each == zone["name"]:
            return None
        for found in _alive(state, zone, each):
            if found["type"] == "NS":
                return found
    return None


def _pointer(state: State, name: str) -> Document | None:
    for each in state.pointers.values():
        is_there = each["id"] in state.floating_ips
        if is_there and ip_address(each["address"]).reverse_pointer + "." == name:
            return each
    return None


def _ttl(found: Document, zone: Document) -> int:
    return int(found["ttl"] if found["ttl"] is not None else zone["ttl"] or DEFAULT_TTL)


def _rrset(name: str, ttl: int, kind: str, records: list[str]) -> dns.rrset.RRset:
    return dns.rrset.from_text_list(name, ttl, dns.rdataclass.IN, kind, records)
