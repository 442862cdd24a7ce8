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

/** A decimal without the spaces and the commas that people group thousands with. */
export function plainDecimal(text: string): string {
  return text.replace(/\s|,(?=\d{3}(?:\D|$))/g, '');
}

/** A whole number for a field of JSON that takes one. */
export function wholeNumber(text: string): number {
  const plain = plainDecimal(text);
  return (/^-?\d{1,15}$/.test(plain) ? Number(plain) : text) as number;
}
