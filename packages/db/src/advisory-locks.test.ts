import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as locks from './advisory-locks.ts';

test('each advisory lock has the number that processes of the release before lock', () => {
  expect({ ...locks }).toEqual({
    MIGRATION_LOCK: 7_339_221_551,
    PARTITION_LOCK: 7_339_221_552,
    FIRST_SIGNUP_LOCK: 7_339_221_553,
    DRAIN_LOCK: 7_339_221_554,
    REPAIR_LOCK: 7_339_221_555,
    RECORDING_LOCK: 20_002,
    COMBINATIONS_LOCK: 20_005,
    REQUEST_KEY_LOCK: 20_015,
    FINALIZING_LOCK: 20_042,
    EXTERNAL_ID_LOCK: 20_055,
    OPENING_LOCK: 20_084,
  });
});

test('no source and no function of the database has the number of an advisory lock of its own', () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const texts = ['../schema.sql', ...sources].map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  const found = (pattern: RegExp) => new Set([...texts.matchAll(pattern)].map(([, what]) => what));
  expect(found(/advisory_\w*lock\w*\(\s*(\d+)/g)).toEqual(
    new Set([locks.RECORDING_LOCK, locks.COMBINATIONS_LOCK].map(String)),
  );
  expect(found(/const (\w*LOCK) = [\d_]+;/g)).toEqual(new Set(Object.keys(locks)));
});
