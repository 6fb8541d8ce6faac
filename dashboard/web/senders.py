"""Who somebody on the network is, as far as addresses tell."""

import ipaddress


def sender(address: str) -> str:
    """The address, or of IPv6 the network of its first 64 bits, in which anybody has as many addresses as they like."""
    try:
        read = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(read, ipaddress.IPv4Address):
        return str(read)
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read, 64), strict=False))
