import { expect, test } from 'vitest';
import { hashPassword, isPassword } from './passwords.ts';

test('a password is stored as argon2id, salted, with the cost that OWASP recommends', async () => {
  const [one, other] = await Promise.all([
    hashPassword('correct horse battery'),
    hashPassword('correct horse battery'),
  ]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(one).not.toBe(other);
});

test('only the password itself is taken', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(await isPassword('correct horse battery', hash)).toBe(true);
  expect(await isPassword('correct horse batterz', hash)).toBe(false);
  expect(await isPassword('', hash)).toBe(false);
});

test('where there is no account no password is right, and to find out takes as long as where there is one', async () => {
  const hash = await hashPassword('correct horse battery');
  const timed = async (passwordHash: string | undefined) => {
    const start = performance.now();
    expect(await isPassword('wrong horse battery', passwordHash)).toBe(false);
    return performance.now() - start;
  };
  // The fastest of many is what the work itself costs; the rest is how busy the machine was. In turn, so that it is as busy
  // for one as for the other.
  const fastest = { without: Infinity, with: Infinity };
  for (let round = 0; round < 30; round += 1) {
    fastest.without = Math.min(fastest.without, await timed(undefined));
    fastest.with = Math.min(fastest.with, await timed(hash));
  }
  expect(fastest.without / fastest.with).toBeGreaterThan(0.5);
});

test('who has gone when it is his turn has nothing hashed', async () => {
  const first = hashPassword('correct horse battery');
  let isGone = false;
  const others = [hashPassword('correct horse battery', () => isGone), isPassword('', undefined, () => isGone)];
  isGone = true;
  expect(await first).toMatch(/^\$argon2id/);
  for (const result of await Promise.allSettled(others)) expect(result.status).toBe('rejected');
});
