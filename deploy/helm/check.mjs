// Checks the chart, as a part of `npm run check`: what Helm makes of it fits the schemas of Kubernetes 1.33, of KEDA and of the
// operator of Prometheus. With the folder of a chart it checks that one. Why so: docs/decisions/0076-the-chart-and-its-checks.md.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cache, renderChart, root } from './render.mjs';

/** Between them they reach every branch of the templates. */
const cases = {
  defaults: {},
  everything: {
    imagePullSecrets: [{ name: 'registry' }],
    secrets: { SMTP_URL: { name: 'mail', key: 'url' } },
    ca: { name: 'weir-postgres-ca' },
    settings: { LOG_LEVEL: 'warn' },
    api: {
      settings: { PUBLIC_URL: 'https://weir.example.com', DRAIN_DELAY_MS: 0 },
      service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
    },
    worker: { settings: { WORKER_CONCURRENCY: 8 }, autoscaling: { enabled: true } },
    reconcile: { options: ['--archived-through', '2026-01'] },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'billing', operator: 'Exists' }],
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  },
};

const schemas = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};
const moduleOf = ({ apiVersion, kind }) =>
  `${schemas[apiVersion.split('/')[0]] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;

const [chart] = process.argv.slice(2);
const folder = `${cache}/objects-${process.pid}`;
mkdirSync(folder, { recursive: true });
let failed = false;
for (const [name, values] of Object.entries(cases)) {
  for (const object of renderChart(values, chart)) {
    const title = `${name}-${object.kind}-${object.metadata.name}`;
    // The schemas: types, what is required, formats and bounds. They let fields pass that they do not have.
    const models = await import(moduleOf(object));
    try {
      new models[object.kind](object).validate();
    } catch (error) {
      failed = true;
      console.error(`${title}: ${error.message}`);
    }
    // The types made of them, for a literal: fields that are misspelt.
    const type = `I${object.kind}`;
    const literal = JSON.stringify(object, null, 2);
    const text = `import type { ${type} } from '${moduleOf(object)}';\nexport const object: ${type} = ${literal};\n`;
    writeFileSync(`${folder}/${title}.ts`, text);
  }
}
const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', types: [] };
writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
// What it finds, it has written to standard output.
const compiled = spawnSync(`${root}node_modules/.bin/tsc`, ['-p', folder], { cwd: folder, stdio: 'inherit' });
if (compiled.error !== undefined) throw compiled.error;
if (compiled.status !== 0) failed = true;
if (failed) {
  console.error(`The chart makes objects that a cluster would not take. They are in ${folder}.`);
  process.exitCode = 1;
} else {
  rmSync(folder, { recursive: true });
}
