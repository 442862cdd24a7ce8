import { randomInt } from 'node:crypto';

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random characters, each of the 62 as likely as any other. */
export function randomBase62(length: number): string {
  let text = '';
  for (let count = 0; count < length; count += 1) text += CHARACTERS.charAt(randomInt(CHARACTERS.length));
  return text;
}

/** The last `length` digits of a whole number, to the base of 62. */
export function base62Of(number: number, length: number): string {
  let rest = number;
  let text = '';
  for (let count = 0; count < length; count += 1) {
    text = CHARACTERS.charAt(rest % CHARACTERS.length) + text;
    rest = Math.floor(rest / CHARACTERS.length);
  }
  return text;
}
