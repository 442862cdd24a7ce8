// How long a test runs that draws what happens by lot, and where it begins. With all tests each is small and the same every time;
// CONTRIBUTING.md has the variables that make it large.

export interface ProofSize {
  /** 1 with all tests. */
  size: number;
  seed: number;
}

/** What `<name>_SIZE` and `<name>_SEED` of the environment say. */
export function proofSize(name: 'MODEL' | 'CORRECTIONS' | 'ALERTS' | 'LONG_PAST'): ProofSize {
  return { size: numberOf(`${name}_SIZE`, 1), seed: numberOf(`${name}_SEED`, 9) };
}

function numberOf(variable: string, otherwise: number): number {
  const text = process.env[variable] ?? String(otherwise);
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${variable} must be a whole number from 1 on, and is '${text}'`);
  return Number(text);
}
