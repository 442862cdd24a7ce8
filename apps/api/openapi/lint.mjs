// Lints the OpenAPI document, as a part of `npm run check`, once everything is compiled, and holds it against those of all releases. The
// document is that of an app which is built as the API builds it and never asked anything, so no service has to run. With the
// names of files it is the documents in them. Which rules hold: redocly.yaml, breaking-changes.mjs and deprecations.mjs.

import { formatProblems, lintFromString, loadConfig } from '@redocly/openapi-core';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { findBreakingChanges } from './breaking-changes.mjs';
import { findUntoldDeprecations } from './deprecations.mjs';

const RELEASES = new URL('../../../test/releases/', import.meta.url);

const config = await loadConfig({ configPath: fileURLToPath(new URL('redocly.yaml', import.meta.url)) });
const changelog = await readFile(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
const files = process.argv.slice(2);
if (files.length === 0) await lint('openapi.json', JSON.stringify(await buildDocument()));
for (const file of files) if (await lint(file, await readFile(file, 'utf8'))) console.log(`${file} passes`);

/** Says what is wrong with a document, and returns whether nothing is. */
async function lint(name, source) {
  const problems = await lintFromString({ source, config, absoluteRef: name });
  if (problems.length > 0)
    formatProblems(problems, { format: 'stylish', totals: { errors: problems.length, warnings: 0, ignored: 0 } });
  const told = findUntoldDeprecations(JSON.parse(source), changelog);
  for (const { name: release } of (await readdir(RELEASES, { withFileTypes: true })).filter((each) =>
    each.isDirectory(),
  )) {
    const document = gunzipSync(await readFile(new URL(`${release}/openapi.json.gz`, RELEASES)));
    for (const change of findBreakingChanges(JSON.parse(document.toString()), JSON.parse(source)))
      told.push(`A client of ${release} breaks: ${change}`);
  }
  for (const each of told) console.error(each);
  const passes = problems.length + told.length === 0;
  if (!passes) process.exitCode = 1;
  return passes;
}

async function buildDocument() {
  const { openDatabase } = await import('@weir/db/database');
  const { queueKeys } = await import('@weir/queue/keys');
  const { createLog } = await import('@weir/shared/log');
  const { loadSettings } = await import('@weir/shared/settings');
  const { buildApp } = await import('../dist/app.js');
  const { buildMetrics } = await import('../dist/http/metrics.js');
  const { apiSettings } = await import('../dist/settings.js');
  // Nobody listens at either address, and nobody connects to them.
  const services = { DATABASE_URL: 'postgres://127.0.0.1/none', REDIS_URL: 'redis://127.0.0.1' };
  const settings = loadSettings(apiSettings, { ...services, LOG_LEVEL: 'silent' });
  const connections = { connectionsMax: 1, statementTimeoutMs: 1_000, onConnectionError() {} };
  const database = openDatabase(settings.DATABASE_URL, connections);
  const app = await buildApp({
    settings,
    database,
    lookups: database,
    probe: database,
    databaseWatch: {},
    queue: { redis: {}, keys: queueKeys('{weir}') },
    apiKeys: {},
    keyUse: {},
    ownership: {},
    log: createLog('api', 'silent'),
    metrics: buildMetrics({}),
    ingest: {},
    billingJobs: {},
    consoleFolder: '/nowhere',
    isDraining: () => false,
  });
  try {
    await app.ready();
    return app.swagger();
  } finally {
    await app.close();
    await database.close();
  }
}
