const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** `Firefox on Linux`, by the words that browsers send of themselves; else the first of those words. */
export function browserOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'unknown';
  const find = (known: readonly (readonly [string, string])[]) => known.find(([word]) => userAgent.includes(word))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (browser === undefined) return userAgent.split(' ')[0] ?? userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
