"""Names that servers look up."""

import asyncio

import dns.message
import dns.rrset

SCRIPT = "#!/bin/sh\ngetent ahostsv4 www.example.org\n"


class Answering(asyncio.DatagramProtocol):
    """Knows one name."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        reply = dns.message.make_response(query)
        name = query.question[0].name
        if name.to_text() == "www.example.org.":
            reply.answer.append(dns.rrset.from_text(name, 60, "IN", "A", "192.0.2.7"))
        self.transport.sendto(reply.to_wire(), addr)


async def test_name_server_of_cloud_answers_a_server(world) -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Answering, ("127.0.0.1", 0))
    world.fabric.resolvers.own = transport.get_extra_info("sockname")
    server = await world.boot("asker", "10.0.0.5", SCRIPT)
    await world.until_console(server, "192.0.2.7")
    transport.close()
