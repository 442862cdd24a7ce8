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
  const fastest = async (passwordHash: string | undefined) => {
    const times: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const start = performance.now();
      expect(await isPassword('wrong horse battery', passwordHash)).toBe(false);
      times.push(performance.now() - start);
    }
    // The fastest of several is what the work itself costs; the rest is how busy the machine was.
    return Math.min(...times);
  };
  expect((await fastest(undefined)) / (await fastest(hash))).toBeGreaterThan(0.5);
});
