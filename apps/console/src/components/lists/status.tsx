/** The tone of each status that the API knows; what is not here is neutral. */
const TONES: Record<string, 'good' | 'warn' | 'bad' | 'accent'> = {
  ACTIVE: 'good',
  PAID: 'good',
  recorded: 'good',
  ok: 'good',
  OPEN: 'accent',
  TRIAL: 'accent',
  SCHEDULED: 'accent',
  queued: 'accent',
  DRAFT: 'warn',
  PAST_DUE: 'bad',
  UNCOLLECTIBLE: 'bad',
  rejected: 'bad',
  away: 'bad',
  DELIVERED: 'good',
  PENDING: 'accent',
  FAILING: 'bad',
  FAILED: 'bad',
};

/** A status as a word with a colour; the colour says nothing that the word does not. */
export function Status({ of }: { of: string }) {
  return <span className={`status status-${TONES[of] ?? 'neutral'}`}>{statusWord(of)}</span>;
}

/** `PAST_DUE` is `Past due`. */
export function statusWord(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
