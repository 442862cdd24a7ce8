import { isIPv6 } from 'node:net';

/**
 * What counts as one address where attempts are counted. Of IPv6 that is the /64, which is the least that a network gives
 * to one customer: whoever has it can send each attempt from another address.
 */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [before = '', after] = address.split('%', 1)[0]?.split('::') ?? [];
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  // A last part that is written as IPv4 stands for two.
  const length = head.length + tail.length + (tail.at(-1)?.includes('.') === true ? 1 : 0);
  const groups = after === undefined ? head : [...head, ...Array<string>(8 - length).fill('0'), ...tail];
  const block = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${block.join(':')}::/64`;
}
