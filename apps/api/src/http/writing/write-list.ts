/** Writes a list as a JSON array, `step` of its items at a time: what takes long is written between the turns of others (turns.ts). */
export function* writingList(items: readonly unknown[], step: number): Generator<undefined, string, undefined> {
  const written: string[] = [];
  for (let from = 0; from < items.length; from += step) {
    written.push(JSON.stringify(items.slice(from, from + step)).slice(1, -1));
    yield;
  }
  return `[${written.join()}]`;
}
