const DAY_MS = 24 * 3_600_000;

/** The first moment of every month (UTC) that has a part in a span; `end` is not in it. */
export function monthsBetween(start: number, end: number): Date[] {
  const first = new Date(start);
  const months: Date[] = [];
  for (let offset = 0; ; offset += 1) {
    const month = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + offset, 1));
    if (month.getTime() >= end) return months;
    months.push(month);
  }
}

/** The first moment of every day (UTC) that has a part in a span; `end` is not in it. */
export function daysBetween(start: number, end: number): Date[] {
  const days: Date[] = [];
  for (let day = Math.floor(start / DAY_MS) * DAY_MS; day < end; day += DAY_MS) days.push(new Date(day));
  return days;
}
