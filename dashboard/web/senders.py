"""Who a client on the network is, as far as addresses show."""

import ipaddress


def sender(address: str) -> str:
    """The address, or for IPv6 the network of its first 64 bits: one client can have all addresses in it."""
    try:
        read = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(read, ipaddress.IPv4Address):
        return str(read)
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read, 64), strict=False))
