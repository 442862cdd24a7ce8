// Meters: what counts usage. A meter is made together with its feature, and outlives it, archived.

import { changeMetadataKeys } from '@weir/db/metadata-keys';
import { findMeter, listMeters, updateMeter, type Meter, METER_SORTS } from '@weir/db/meters';
import { holdRow } from '@weir/db/hold-row';
import { AGGREGATION_TYPES, METER_STATUSES } from '@weir/shared/meter';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { done } from '../http/writing/writing.ts';
import {
  answerOf,
  answerPage,
  changesOf,
  displayName,
  idInPath,
  listQuery,
  oneOf,
  pageSchema,
  searchOf,
  time,
  sortOf,
} from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import { RECORDING_STOP_COST } from '../http/load/read-budget.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import { metadataKeys, unit } from './meter-fields.ts';
import type { RouteDeps } from '../route-deps.ts';

const meterChanges = changesOf({
  name: displayName,
  unit: unit.nullable(),
  status: oneOf(METER_STATUSES).meta({ description: 'An archived meter takes no new events.' }),
  metadata_keys: metadataKeys,
});

const meterAnswer = answerOf<Meter>()({
  id: z.uuid(),
  name: z.string(),
  meter_token: z.string(),
  aggregation_type: z.enum(AGGREGATION_TYPES),
  unit: z.string().nullable(),
  status: z.enum(METER_STATUSES),
  metadata_keys: z.array(z.string()),
  feature_id: z.uuid().nullable().meta({ description: 'Null once the feature was deleted.' }),
  created_at: time,
}).meta({ id: 'Meter' });

const meters: Versioned<Meter> = {
  read: async (...which) => found(await findMeter(...which)),
  hold: holdRow('meters'),
};

export function meterRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.get(
    '/api/v1/meters',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'listMeters',
        tags: ['Catalog'],
        summary: 'List the meters, newest first',
        querystring: listQuery({
          search: searchOf('A part of the name or of the meter_token.'),
          status: oneOf(METER_STATUSES).optional(),
          aggregation_type: oneOf(AGGREGATION_TYPES).optional(),
          ...sortOf(METER_SORTS, '-created_at'),
        }),
        response: { 200: pageSchema(meterAnswer) },
      },
    },
    async (request) => {
      const { search, status, aggregation_type: aggregationType, sort, ...page } = request.query;
      const filter = { search, status, aggregationType, sort };
      return answerPage(await listMeters(db, request.caller.organizationId, filter, page));
    },
  );

  app.get(
    '/api/v1/meters/:id',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'getMeter',
        tags: ['Catalog'],
        summary: 'Read a meter',
        params: idInPath,
        response: { 200: meterAnswer },
      },
    },
    reading(database, meters),
  );

  app.patch(
    '/api/v1/meters/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateMeter',
        tags: ['Catalog'],
        summary: 'Change, archive or reopen a meter',
        description:
          'Changes the fields that are sent. The aggregation stays: it is what recorded usage means. ' +
          'An archived meter refuses new events within some seconds, and what it has counted stays readable, and is billed where it ' +
          'has a price. metadata_keys are ' +
          'replaced by those that are sent; what was counted before is grouped by them within moments, or minutes where it is ' +
          'millions of events, and until then reading by them is 409 groups_not_ready. Where events of it may be in a month that was ' +
          'taken out of the database, other keys are 409 month_taken_out, which names it; to name none is not.',
        params: idInPath,
        body: meterChanges,
        response: { 200: meterAnswer, ...problemResponses('month_taken_out') },
      },
    },
    changing(database, meters, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      const { metadata_keys: keys, ...changes } = request.body;
      return await write.transaction(async (transaction) => {
        const meter = found(
          Object.keys(changes).length > 0
            ? await updateMeter(transaction, organizationId, id, changes)
            : await findMeter(transaction, organizationId, id),
        );
        if (keys === undefined) return done(meter);
        request.pay(RECORDING_STOP_COST);
        await changeMetadataKeys(transaction, organizationId, id, keys);
        // Read once its row is held: another request may have renamed it until then.
        return done(await meters.read(transaction, organizationId, id));
      });
    }),
  );
}
