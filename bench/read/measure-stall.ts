import { spreadOf, type Spread } from '../spread.ts';

/** Just below the 10,000 buckets that one answer may have. */
const HOURS = 416 * 24;
const HOUR_MS = 3_600_000;

const REQUESTS = 20;

/**
 * How many milliseconds the API keeps another caller waiting while it answers the largest window: the longest of the pings
 * that are sent meanwhile, one after another.
 */
export async function measureStall(baseUrl: string, apiKey: string, meterId: string, until: number): Promise<Spread> {
  const get = async (path: string): Promise<void> => {
    const response = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': apiKey } });
    const body = await response.arrayBuffer();
    if (response.status !== 200)
      throw new Error(`${path} answered ${response.status}: ${Buffer.from(body).toString()}`);
  };
  const [start_date, end_date] = [until - HOURS * HOUR_MS, until].map((time) => new Date(time).toISOString());
  const query = new URLSearchParams({ group_by: 'hour', start_date: start_date ?? '', end_date: end_date ?? '' });
  const longest: number[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    let isAnswered = false;
    const answer = get(`/api/v1/meters/${meterId}/usage?${query.toString()}`).finally(() => (isAnswered = true));
    const pings: number[] = [];
    const pinging = (async () => {
      while (!isAnswered) {
        const from = performance.now();
        await get('/healthz');
        pings.push(performance.now() - from);
      }
    })();
    await Promise.all([answer, pinging]);
    longest.push(Math.max(...pings));
  }
  return spreadOf(longest);
}
