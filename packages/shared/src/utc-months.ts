// Months of UTC, as `2026-11`.

/** The next one. */
export function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7);
}

/** ISO 8601. */
export function startOfMonth(month: string): string {
  return `${month}-01T00:00:00Z`;
}
