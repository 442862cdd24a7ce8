// Writes down how many digits the amounts of a currency have, for the console, which imports nothing of Weir.
// test/catalog/limits-written-down.test.ts keeps that file true.

/** Returns the digits after the point of all currencies that have not 2, as a constant of TypeScript. */
export function typescriptDigits(otherDigits: Readonly<Record<number, string>>): string {
  const rows = Object.entries(otherDigits).flatMap(([digits, codes]) =>
    codes.split(' ').map((code) => `  ${code}: ${digits},\n`),
  );
  return `// Made of packages/rating/src/currencies.ts: change that, and \`npx vitest run limits-written-down -u\`.

/** Digits after the point of an amount, by ISO 4217, where they are not 2. */
export const OTHER_DIGITS: Readonly<Record<string, number>> = {
${rows.join('')}};
`;
}
