import { hash as hashAsSent } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { hashPassword, isPassword, newPassword } from './passwords.ts';

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

test('a password is the same whichever system it was typed on', async () => {
  const composed = 'Schl\u00fcsselb\u00fcnd 7'.normalize('NFC');
  const forms = [composed, composed.normalize('NFD'), composed.replace(' ', '\u00a0')];
  for (const first of forms) {
    const hash = await hashPassword(first);
    for (const form of forms) expect(await isPassword(form, hash)).toBe(true);
    expect(await isPassword(composed.replaceAll('\u00fc', 'u'), hash)).toBe(false);
  }
  // One that was stored before passwords were prepared still opens its account, as it was.
  const decomposed = composed.normalize('NFD');
  expect(await isPassword(decomposed, await hashAsSent(decomposed))).toBe(true);
});

test('its length counts as it is prepared, in characters', () => {
  // Eight letters, twice as many as they are sent.
  expect(newPassword.safeParse('\u00fc'.repeat(8).normalize('NFD')).success).toBe(false);
  expect(newPassword.safeParse('\u00fc'.repeat(12).normalize('NFD')).success).toBe(true);
  expect(newPassword.safeParse('\u{1f511}'.repeat(6)).success).toBe(false);
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
