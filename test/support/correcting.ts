import { correctEvents, whileInTheWay, type AskedCorrection } from '@weir/db/corrections/correct-events';
import type { Correction } from '@weir/db/corrections/corrections';
import type { Database } from '@weir/db/database';
import type { ModelEvent } from './usage-model.ts';

/** Makes corrections as the API does, in one transaction. Throws where one of them is refused. */
export async function correct(
  database: Database,
  organizationId: string,
  asked: readonly AskedCorrection[],
): Promise<Correction[]> {
  return await whileInTheWay(() =>
    database.kysely.transaction().execute(async (transaction) => {
      const done = await correctEvents(database, transaction, organizationId, 'user:test', asked);
      if (done.outcome !== 'corrected') throw new Error(JSON.stringify(done));
      return done.corrections;
    }),
  );
}

/** Takes some of the events out of the count, and gives another quantity in the place of half of them; `events` are changed alike. */
export async function correctSome(
  database: Database,
  organizationId: string,
  events: ModelEvent[],
  chosen: readonly ModelEvent[],
): Promise<void> {
  const asked = chosen.map(({ id, quantity }, index) => {
    const amendment = index % 2 === 0 ? { quantity: `${quantity}1` } : undefined;
    return { eventId: id, reason: 'a test', amendment };
  });
  const corrections = await correct(database, organizationId, asked);
  for (const [index, event] of chosen.entries()) {
    const id = corrections[index]?.amended_by;
    const amended = id == null ? [] : [{ ...event, id, quantity: asked[index]?.amendment?.quantity ?? '' }];
    events.splice(events.indexOf(event), 1, ...amended);
  }
}

/** The same with every third event, by two at the same time, while something else is done. */
export async function correctThird(
  database: Database,
  organizationId: string,
  events: ModelEvent[],
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const chosen = events.filter((_, index) => index % 3 === 0);
  const halves = [0, 1].map((half) => chosen.filter((_, index) => index % 2 === half));
  await Promise.all([...halves.map((half) => correctSome(database, organizationId, events, half)), meanwhile()]);
}
