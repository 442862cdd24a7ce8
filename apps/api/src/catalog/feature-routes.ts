// Features: what a plan can include. Behind a feature of type meter stands a meter, which counts its usage.

import { isMeterPriced } from '@weir/db/billing/plans/charges';
import {
  countFeatures,
  deleteFeature,
  findFeature,
  insertFeature,
  listFeatures,
  lockFeature,
  updateFeature,
  type Feature,
  FEATURE_SORTS,
  holdFeature,
} from '@weir/db/features';
import { holdOrganization } from '@weir/db/hold-row';
import { archiveMeterOfFeature, countMeters, insertMeter, updateUnitOfFeature } from '@weir/db/meters';
import { Refusal } from '@weir/shared/errors';
import { randomBase62 } from '@weir/shared/base62';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { slug } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import {
  answerOf,
  answerPage,
  changesOf,
  displayName,
  idInPath,
  listQuery,
  listSchema,
  nothing,
  oneOf,
  searchOf,
  time,
  sortOf,
} from '../http/fields.ts';
import { found, invalidFields, problemResponses } from '../http/problem.ts';
import { sendJson } from '../http/body/send-json.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import { writingList } from '../http/writing/write-list.ts';
import { metadataKeys, unit } from './meter-fields.ts';
import type { RouteDeps } from '../route-deps.ts';

const FEATURE_TYPES = ['meter', 'switch', 'custom'] as const;

const common = { name: displayName, lookup_key: slug };
const featureBody = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      ...common,
      type: z.literal('meter'),
      aggregation_type: oneOf(AGGREGATION_TYPES).meta({
        description: 'How events become a number; it cannot be changed later.',
      }),
      unit: unit.nullish(),
      metadata_keys: metadataKeys.default([]),
    }),
    z.strictObject({ ...common, type: z.literal(['switch', 'custom']) }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? 'must be one of meter, switch, custom' : undefined) },
);

const featureChanges = changesOf({ ...common, unit: unit.nullable() });

const featureAnswer = answerOf<Feature>()({
  id: z.uuid(),
  name: z.string(),
  lookup_key: z.string(),
  type: z.enum(FEATURE_TYPES),
  meter_id: z.uuid().nullable(),
  meter_token: z.string().nullable(),
  aggregation_type: z.enum(AGGREGATION_TYPES).nullable(),
  unit: z.string().nullable(),
  metadata_keys: z.array(z.string()).nullable(),
  plan_count: z.int().meta({ description: 'Number of plans that use the feature.' }),
  created_at: time,
}).meta({ id: 'Feature' });

const TOO_MANY = `would be more than ${LIMITS.features} features of an organization: delete some that no plan uses`;

const TOO_MANY_METERS =
  `would be more than ${LIMITS.meters} meters of an organization, with those of features that were deleted: meters stay, ` +
  'so change a feature in place of making it anew, or track what differs as metadata';

const PRICED =
  'A plan has a price for its meter, or a subscription is billed for it until its period ends: end the charge in every plan first, ' +
  'and wait for the period.';

const features: Versioned<Feature> = {
  read: async (...which) => found(await findFeature(...which)),
  hold: holdFeature,
};

export function featureRoutes(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  const db = database.kysely;

  app.post(
    '/api/v1/features',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'createFeature',
        tags: ['Catalog'],
        summary: 'Create a feature, and for type meter its meter',
        description:
          'Services track usage with the meter_token in the answer, or with the lookup_key. The meter takes the name of the feature. ' +
          `Events with a lookup_key that another feature had until just now are counted there for up to ${LIMITS.formerKeySeconds} seconds more.`,
        body: featureBody,
        response: { 201: featureAnswer, ...problemResponses('lookup_key_taken') },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId: organization_id } = request.caller;
      const { body } = request;
      const { name, lookup_key, type } = body;
      const id = newId();
      return await write.transaction(async (transaction) => {
        await holdOrganization(transaction, organization_id);
        if ((await countFeatures(transaction, organization_id)) >= LIMITS.features)
          throw invalidFields([{ path: '', message: TOO_MANY }]);
        if (type === 'meter' && (await countMeters(transaction, organization_id)) >= LIMITS.meters)
          throw invalidFields([{ path: 'type', message: TOO_MANY_METERS }]);
        await insertFeature(transaction, { organization_id, id, name, lookup_key, type });
        if (body.type === 'meter') {
          await insertMeter(transaction, {
            organization_id,
            id: newId(),
            feature_id: id,
            name,
            meter_token: newMeterToken(),
            aggregation_type: body.aggregation_type,
            unit: body.unit ?? null,
            metadata_keys: body.metadata_keys,
          });
        }
        return made(found(await findFeature(transaction, organization_id, id)));
      });
    }),
  );

  app.get(
    '/api/v1/features',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'listFeatures',
        tags: ['Catalog'],
        summary: 'List all features, oldest first',
        description: 'All of them, unless cursor, limit, page or page_size is sent: then a page, and meta.',
        querystring: listQuery({
          search: searchOf('A part of the name or of the lookup_key.'),
          type: oneOf(FEATURE_TYPES).optional(),
          aggregation_type: oneOf(AGGREGATION_TYPES).optional(),
          ...sortOf(FEATURE_SORTS, 'created_at'),
        }),
        response: { 200: listSchema(featureAnswer) },
      },
    },
    async (request, reply) => {
      const { search, type, aggregation_type: aggregationType, sort, ...page } = request.query;
      const filter = { search, type, aggregationType, sort };
      const isPaged = Object.keys(page).length > 0;
      const found = await listFeatures(db, request.caller.organizationId, filter, isPaged ? page : undefined);
      if (isPaged) return answerPage(found);
      return sendJson(reply, `{"data":${await inTurns(turns, writingList(found.rows, 100))}}`);
    },
  );

  app.get(
    '/api/v1/features/:id',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'getFeature',
        tags: ['Catalog'],
        summary: 'Read a feature',
        params: idInPath,
        response: { 200: featureAnswer },
      },
    },
    reading(database, features),
  );

  app.patch(
    '/api/v1/features/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateFeature',
        tags: ['Catalog'],
        summary: 'Change a feature',
        description:
          'Changes the fields that are sent. unit is for type meter only. The name of the meter stays: change it there. ' +
          `Events that still come with an old lookup_key are counted here for ${LIMITS.formerKeySeconds} seconds more: give it to another ` +
          'feature after that.',
        params: idInPath,
        body: featureChanges,
        response: { 200: featureAnswer, ...problemResponses('lookup_key_taken') },
      },
    },
    changing(database, features, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      const { unit, ...changes } = request.body;
      return await write.transaction(async (transaction) => {
        found(await lockFeature(transaction, organizationId, id));
        if (unit !== undefined && !(await updateUnitOfFeature(transaction, organizationId, id, unit))) {
          throw invalidFields([{ path: 'unit', message: 'is only for features of type meter, and this is none' }]);
        }
        if (Object.keys(changes).length > 0) await updateFeature(transaction, organizationId, id, changes);
        return done(found(await findFeature(transaction, organizationId, id)));
      });
    }),
  );

  app.delete(
    '/api/v1/features/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'deleteFeature',
        tags: ['Catalog'],
        summary: 'Delete a feature that no plan uses or prices',
        description:
          'Its meter is archived: it takes no more events, and what it has counted stays readable. A meter with a price in a plan, or ' +
          'in the open period of a subscription, is not. Events that still come with the lookup_key are counted there for ' +
          `${LIMITS.formerKeySeconds} seconds more: give it to another feature after that.`,
        params: idInPath,
        response: { 204: nothing, ...problemResponses('feature_in_use') },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      return await write.transaction(async (transaction) => {
        // The feature before its meter: lock 6 of decision 94.
        // The meter is archived before the feature is gone, since the feature says whose it is.
        found(await lockFeature(transaction, organizationId, id));
        const meterId = await archiveMeterOfFeature(transaction, organizationId, id);
        if (meterId !== undefined && (await isMeterPriced(transaction, organizationId, meterId)))
          throw new Refusal('feature_in_use', PRICED);
        await deleteFeature(transaction, organizationId, id);
        return gone();
      });
    }),
  );
}

/** 24 characters of base62 hold 142 bits: a token that is unique over all organizations without asking any of them. */
function newMeterToken(): string {
  return `mtr_${randomBase62(24)}`;
}
