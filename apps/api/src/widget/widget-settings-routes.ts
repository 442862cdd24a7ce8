// Chooses the meters that an organization shows its customers.

import { holdOrganization } from '@weir/db/hold-row';
import { getWidgetSettings, updateWidgetSettings, type WidgetSettings } from '@weir/db/widget-settings';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, changesOf, idOf } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done } from '../http/writing/writing.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import type { RouteDeps } from '../route-deps.ts';

const meterIds = z
  .array(idOf('must be the id of a meter'))
  .max(LIMITS.widgetMeters, `must be at most ${LIMITS.widgetMeters} meters`)
  .refine((ids) => new Set(ids).size === ids.length, 'must not name a meter twice')
  .nullable()
  .meta({
    description:
      'The meters that customers are shown, in this order, each where the customer uses it. Null: all of them, newest first. ' +
      'A meter that is not named is shown to no customer.',
  });

const settingsAnswer = answerOf<WidgetSettings>()({
  meter_ids: z.array(z.uuid()).nullable().meta({ description: 'In the order in which they are shown.' }),
}).meta({ id: 'WidgetSettings' });
const settingsChanges = changesOf({ meter_ids: meterIds });

const NO_SUCH_METER = 'Your organization has no meter with one of these meter_ids: see GET /api/v1/meters.';

const widgetSettings: Versioned<WidgetSettings> = { read: getWidgetSettings, hold: holdOrganization };

export function widgetSettingsRoutes(app: App, { database, guards }: RouteDeps): void {
  app.get(
    '/api/v1/widget/settings',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getWidgetSettings',
        tags: ['Widget'],
        summary: 'Read what customers are shown',
        response: { 200: settingsAnswer },
      },
    },
    reading(database, widgetSettings),
  );

  app.patch(
    '/api/v1/widget/settings',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateWidgetSettings',
        tags: ['Widget'],
        summary: 'Change what customers are shown',
        description: 'Holds from the next read of a widget on.',
        body: settingsChanges,
        response: { 200: settingsAnswer, ...problemResponses('not_found') },
      },
    },
    changing(database, widgetSettings, ({ caller, body }, write) =>
      write.single(async (db) => {
        const { organizationId } = caller;
        const { meter_ids = (await getWidgetSettings(db, organizationId)).meter_ids } = body;
        const settings = await updateWidgetSettings(db, organizationId, { meter_ids });
        if (settings === undefined) throw new Refusal('not_found', NO_SUCH_METER);
        return done(settings);
      }),
    ),
  );
}
