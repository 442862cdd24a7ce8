import { readBuild } from '@weir/shared/build';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';

export const revision = z.string().meta({ description: 'The commit of its build; `unknown` where that did not say.' });

/** Which version answers, for whoever asks: clients, balancers, and people who write that something is wrong. */
export function versionRoute(app: App): void {
  const build = readBuild();
  app.get(
    '/version',
    {
      config: { traffic: 'vital' },
      schema: {
        operationId: 'getVersion',
        tags: ['Operations'],
        security: [],
        summary: 'Which version of Weir answers',
        response: { 200: z.object({ version: z.string(), revision }) },
      },
    },
    () => ({ version: build.version, revision: build.revision }),
  );
}
