// What people type, in the form in which the API takes it. What cannot be read is sent as it is: the API says what is wrong
// with it, at its field.

/** Returns a name as a slug: `Pro plan (EU)` is `pro-plan-eu`. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '');
}

/** Its commas can only group thousands: those of `0,002` and `1234,567` may stand for a point. */
const GROUPED = /^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$/;

/** A decimal without the spaces and the commas that people group thousands with; its minus may be one that was copied from a page. */
export function plainDecimal(text: string): string {
  const plain = text.replace(/\s/g, '').replace(/^−/, '-');
  return GROUPED.test(plain) ? plain.replaceAll(',', '') : plain;
}

/** A whole number for a field of JSON that takes one. */
export function wholeNumber(text: string): number {
  const plain = plainDecimal(text);
  return (/^-?\d{1,15}$/.test(plain) ? Number(plain) : text) as number;
}
