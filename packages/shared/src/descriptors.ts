// How many files and connections a process may have open (`ulimit -n`).

import { readFileSync } from 'node:fs';

/**
 * As Node loads a process of Weir, it has some 350 files open at once. With fewer it ends with the stack of whichever could not be
 * opened; and what is left beyond some 100 is what clients may connect over.
 */
const NEEDED = 512;

/** Linux tells; other systems have as many as anybody needs once Node has asked for all that it may have. */
export function descriptorsMax(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** Ends the process, with one line that says what to raise, where it may not open enough to be loaded. */
export function requireDescriptors(): void {
  const max = descriptorsMax();
  if (max >= NEEDED) return;
  console.error(
    `Cannot start: this process may have ${max} files and connections open, and needs ${NEEDED} at least, better 16384: ` +
      'raise ulimit -n (systemd: LimitNOFILE, Docker: --ulimit nofile=16384).',
  );
  process.exit(1);
}
