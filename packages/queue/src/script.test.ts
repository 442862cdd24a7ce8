import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const scripts = new URL('../scripts/', import.meta.url);
const source = new URL('./', import.meta.url);
const names = readdirSync(scripts).map((file) => file.replace(/\.lua$/, ''));

test.each(names)('the head of %s.lua says what it is given and what it returns', (name) => {
  // What Redis is told of a script stands before its head.
  const lines = readFileSync(new URL(`${name}.lua`, scripts), 'utf8')
    .replace(/^#!.*\n/, '')
    .split('\n');
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('--')),
  );
  for (const word of ['KEYS', 'ARGV', 'Returns'])
    expect(head.some((line) => line.startsWith(`-- ${word} `))).toBe(true);
});

test('every script is loaded, and no script is text inside of code', () => {
  const modules = readdirSync(source).filter((file) => !file.endsWith('.test.ts'));
  const code = modules.map((file) => readFileSync(new URL(file, source), 'utf8')).join('\n');
  const loaded = [...code.matchAll(/loadScript<.*>\('(.*)'\)/g)].map((match) => match[1]);
  expect(new Set(loaded)).toEqual(new Set(names));
  expect(code).not.toMatch(/redis\.call|\.eval\(/);
});
