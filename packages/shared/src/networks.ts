// Which addresses a request may be sent to whose target somebody else has chosen.

import { BlockList, isIP } from 'node:net';

/** Networks as an operator lists them: addresses and CIDR blocks, separated by commas. */
export class Networks {
  readonly #list = new BlockList();
  readonly #text: string;
  readonly isEmpty: boolean;

  /** Throws a RangeError that names what is none. */
  constructor(text: string) {
    this.#text = text;
    const networks = text.split(/[\s,]+/).filter((network) => network !== '');
    this.isEmpty = networks.length === 0;
    for (const network of networks) add(this.#list, network);
  }

  /** As they are listed. */
  toString(): string {
    return this.isEmpty ? 'none' : this.#text;
  }

  has(address: string): boolean {
    return this.#list.check(address, familyOf(address));
  }
}

function add(list: BlockList, network: string): void {
  const [address = '', length, ...more] = network.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  const isBlock = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
  if (isIP(address) === 0 || address.includes('%') || !isBlock || more.length > 0)
    throw new RangeError(`${network} is no network, such as 10.0.0.0/8 or fd00::/8`);
  list.addSubnet(address, Number(length ?? bits), familyOf(address));
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Of IPv4 all that IANA's registry of special-purpose addresses does not call globally reachable, relays of 6to4, and multicast. */
const NOT_PUBLIC_IPV4 = new Networks(
  '0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.0.2.0/24, ' +
    '192.88.99.0/24, 192.168.0.0/16, 198.18.0.0/15, 198.51.100.0/24, 203.0.113.0/24, 224.0.0.0/3',
);

/** What is given out to hosts on the Internet. All others are local, or stand for an IPv4 address (mapped, NAT64). */
const GLOBAL_IPV6 = new Networks('2000::/3');

/** Of those again: assignments of protocols (Teredo, ORCHID, benchmarks), documentation, and 6to4, which stands for an IPv4 address. */
const NOT_PUBLIC_IPV6 = new Networks('2001::/23, 2001:db8::/32, 2002::/16, 3fff::/20');

/** Whether an address is of a host on the Internet; what is no address is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !NOT_PUBLIC_IPV4.has(address);
    case 6:
      return !address.includes('%') && GLOBAL_IPV6.has(address) && !NOT_PUBLIC_IPV6.has(address);
    default:
      return false;
  }
}

/** The host of a URL, which writes an address of IPv6 in brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
