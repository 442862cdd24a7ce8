import { expect, test } from 'vitest';
import { packagesToUnpack } from './debian-packages.ts';
import { adviceFor, isRedisPackage, parseVersion, toolsOf } from './redis-packages.ts';

test('the major version is read from what Redis and Valkey say of themselves', () => {
  expect(parseVersion('Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=0')).toBe(7);
  expect(parseVersion('Valkey server v=8.1.1 sha=00000000:0 malloc=libc bits=64 build=0')).toBe(8);
  expect(parseVersion('error while loading shared libraries: liblzf.so.1')).toBeUndefined();
});

test('the server and the libraries it lacks are unpacked, and nothing that only an installation needs', () => {
  const simulation = [
    'Reading package lists...',
    'The following NEW packages will be installed:',
    '  adduser libc6 libjemalloc2 liblzf1 redis-server redis-tools',
    'Inst libc6 [2.36-9] (2.36-10 Debian:12.10/stable [amd64])',
    'Inst adduser (3.134 Debian:12.10/stable [all])',
    'Inst libjemalloc2 (5.3.0-1 Debian:12.10/stable [amd64])',
    'Inst liblzf1:arm64 (3.6-3 Debian:12.10/stable [arm64])',
    'Inst redis-tools (5:7.0.15-1 Debian:12.10/stable [amd64])',
    'Inst redis-server (5:7.0.15-1 Debian:12.10/stable [amd64])',
    'Conf redis-server (5:7.0.15-1 Debian:12.10/stable [amd64])',
  ].join('\n');
  expect(packagesToUnpack(simulation, isRedisPackage)).toEqual([
    'libjemalloc2',
    'liblzf1:arm64',
    'redis-tools',
    'redis-server',
  ]);
});

test('the tools that the server is a link to are unpacked also where they are installed, and once', () => {
  const server = 'Inst redis-server (5:7.0.15-1 Debian:12.10/stable [amd64])\n';
  const tools = 'Inst redis-tools:arm64 (5:7.0.15-1 Debian:12.10/stable [arm64])\n';
  const unpacked = (simulation: string) => packagesToUnpack(simulation, isRedisPackage, toolsOf('redis-server'));
  expect(unpacked(server)).toEqual(['redis-server', 'redis-tools']);
  expect(unpacked(tools + server)).toEqual(['redis-tools:arm64', 'redis-server']);
  expect(unpacked('')).toEqual([]);
  expect(toolsOf('valkey-server')).toEqual(['valkey-tools']);
});

test('the advice is a command of the platform', () => {
  expect(adviceFor('darwin')).toContain('brew install redis');
  expect(adviceFor('linux')).toContain('apk add valkey');
  expect(adviceFor('linux')).toContain('REDIS_URL');
});
