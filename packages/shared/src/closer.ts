/** Closes what was opened, last opened first, whatever fails on the way. */
export class Closer {
  readonly #steps: { name: string; close: () => unknown }[] = [];

  /** Registers how to close something that was just opened. */
  add(name: string, close: () => unknown): void {
    this.#steps.push({ name, close });
  }

  /**
   * Runs every step once, in reverse order; throws one AggregateError at the end if any step failed. All of it takes no
   * longer than `withinMs`: a step that is not done by then has failed, and goes on by itself.
   */
  async close(withinMs = Infinity): Promise<void> {
    const failures: unknown[] = [];
    const deadline = performance.now() + withinMs;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await within(deadline - performance.now(), step.close());
      } catch (error) {
        failures.push(new Error(`could not close ${step.name}`, { cause: error }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
  }
}

async function within(ms: number, closing: unknown): Promise<void> {
  if (ms === Infinity || !(closing instanceof Promise)) {
    await closing;
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it was not done in time')), Math.max(0, ms));
  });
  try {
    await Promise.race([closing, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
