"""IP protocols that rules of security groups may name."""

NUMBERS = {
    "ah": 51, "dccp": 33, "egp": 8, "esp": 50, "gre": 47, "icmp": 1, "icmpv6": 58, "igmp": 2,
    "ipv6-encap": 41, "ipv6-frag": 44, "ipv6-icmp": 58, "ipv6-nonxt": 59, "ipv6-opts": 60,
    "ipv6-route": 43, "ospf": 89, "pgm": 113, "rsvp": 46, "sctp": 132, "tcp": 6, "udp": 17,
    "udplite": 136, "vrrp": 112,
}  # fmt: skip

PROTOCOLS: tuple[int | str, ...] = (*range(256), *NUMBERS)
