/** Runs work that stops where it can to its end, in one go, and returns what it returns. */
export function toEnd<Result>(work: Generator<undefined, Result, undefined>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
