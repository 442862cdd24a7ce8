import fastify from 'fastify';
import { expect, test } from 'vitest';
import { watchConnections } from '../connection/connections.ts';
import { usePressure, type ShedReason } from './pressure.ts';

test('a process that was busy until it listened has no more to do than it can', async () => {
  const app = fastify();
  const shed: ShedReason[] = [];
  usePressure(app, watchConnections(app), {
    othersMax: 1,
    delayMsMax: 10,
    databaseAway: () => undefined,
    onShed: (reason) => shed.push(reason),
  });
  app.get('/', () => 'served');
  await app.ready();
  for (const end = performance.now() + 1_100; performance.now() < end;);
  const answer = await fetch(await app.listen());
  await app.close();
  expect({ status: answer.status, shed }).toEqual({ status: 200, shed: [] });
});
