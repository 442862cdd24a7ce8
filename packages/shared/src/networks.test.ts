import { expect, test } from 'vitest';
import { isPublicAddress, Networks } from './networks.ts';

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:0:53aa::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2606:4700::1111%eth0',
  'localhost',
  '',
  '1.2.3',
  '0x7f.1',
  '017700000001',
  '2130706433',
])('%s is no address of a host on the Internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '192.0.1.1',
  '198.20.0.1',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2003::1',
  '2a00::1',
])('%s is an address of a host on the Internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test('networks hold what lies in them, of IPv4 and IPv6, and single addresses', () => {
  const networks = new Networks('10.0.0.0/8, 127.0.0.2 fd00::/8');
  expect(['10.1.2.3', '127.0.0.2', 'fd00::7'].every((address) => networks.has(address))).toBe(true);
  expect(['11.0.0.1', '127.0.0.1', 'fe80::1'].some((address) => networks.has(address))).toBe(false);
  expect([new Networks('').isEmpty, networks.isEmpty]).toEqual([true, false]);
});

test.each([
  '10.0.0.0/33',
  '10.0.0/8',
  'fd00::/129',
  'localhost',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  'fe80::1%eth0',
  '/8',
  '10.0.0.0/-1',
])('%s is no network, and is named', (text) => {
  expect(() => new Networks(text)).toThrow(text);
});
