import { BlockList, isIPv6 } from 'node:net';

/** Whether an address is among those of `TRUST_PROXY`. */
export function buildIsProxy(trustProxy: string | undefined): (address: string) => boolean {
  const proxies = parseNetworks(trustProxy);
  return (address) => proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** The networks in a setting such as `10.0.0.0/8, 127.0.0.1`. */
function parseNetworks(text = ''): BlockList {
  const list = new BlockList();
  for (const network of text.split(',').map((each) => each.trim())) {
    if (network === '') continue;
    const [address = '', length] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, prefixOf(length), family);
  }
  return list;
}

/** `8`, or the mask `255.0.0.0`, which means the same. */
function prefixOf(length: string): number {
  if (!length.includes('.')) return Number(length);
  return length
    .split('.')
    .map((part) => Number(part).toString(2).replaceAll('0', '').length)
    .reduce((sum, bits) => sum + bits, 0);
}
