// Meters: what counts usage. A meter is made together with its feature, and outlives it, archived.

import { findMeter, listMeters, updateMeter } from '@weir/db/meters';
import { Refusal } from '@weir/shared/errors';
import { AGGREGATION_TYPES, METER_STATUSES } from '@weir/shared/meter';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import {
  adminCodes,
  answerPage,
  bodyCodes,
  changesOf,
  displayName,
  idInPath,
  oneOf,
  pageQuery,
  pageSchema,
  readCodes,
  searchOf,
  time,
} from '../http/fields.ts';
import { NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import { unit, type CatalogDeps } from './feature-routes.ts';

const meterChanges = changesOf({
  name: displayName,
  unit: unit.nullable(),
  status: oneOf(METER_STATUSES).meta({ description: 'An archived meter takes no new events.' }),
});

const meterAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    meter_token: z.string(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    unit: z.string().nullable(),
    status: z.enum(METER_STATUSES),
    feature_id: z.uuid().nullable().meta({ description: 'Null once the feature was deleted.' }),
    created_at: time,
  })
  .meta({ id: 'Meter' });

const sessionOrKey = [{ session: [] }, { apiKey: [] }];

export function meterRoutes(app: App, { database, guards }: CatalogDeps): void {
  const db = database.kysely;

  app.get(
    '/api/v1/meters',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'listMeters',
        tags: ['Catalog'],
        summary: 'List the meters, newest first',
        security: sessionOrKey,
        querystring: z.strictObject({
          search: searchOf('A part of the name or of the meter_token.'),
          status: oneOf(METER_STATUSES).optional(),
          aggregation_type: oneOf(AGGREGATION_TYPES).optional(),
          ...pageQuery,
        }),
        response: {
          200: pageSchema(meterAnswer),
          ...problemResponses(...readCodes, 'invalid_request'),
        },
      },
    },
    async (request) => {
      const { search, status, aggregation_type: aggregationType, ...page } = request.query;
      const filter = { search, status, aggregationType };
      return answerPage(await listMeters(db, request.caller.organizationId, filter, page), page);
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
        security: sessionOrKey,
        params: idInPath,
        response: { 200: meterAnswer, ...problemResponses(...readCodes, 'not_found') },
      },
    },
    async (request) => {
      const meter = await findMeter(db, request.caller.organizationId, request.params.id);
      if (meter === undefined) throw new Refusal('not_found', NO_SUCH_THING);
      return meter;
    },
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
          'An archived meter refuses new events within some seconds, and what it has counted stays readable.',
        security: [{ session: [] }],
        params: idInPath,
        body: meterChanges,
        response: {
          200: meterAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found'),
        },
      },
    },
    async (request) => {
      const meter = await updateMeter(db, request.caller.organizationId, request.params.id, request.body);
      if (meter === undefined) throw new Refusal('not_found', NO_SUCH_THING);
      return meter;
    },
  );
}
