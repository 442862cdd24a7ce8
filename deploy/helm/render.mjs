// Renders the chart as `helm install` would, with Helm itself: the objects that a cluster would be given.
// Its program comes with the development dependencies where they have one (Linux on x64); elsewhere the one on PATH is taken.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { parseAllDocuments } from 'yaml';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where files of the chart's checks may lie: away from the tree, and where Node finds the packages of the tree. */
export const cache = `${root}node_modules/.cache/weir-chart`;

/** The version of Kubernetes that the schemas of kubernetes-models are of. */
const KUBERNETES = '1.33.0';

/** The program of Helm, which a package for AWS Lambda carries in a zip file. */
function findHelm() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'helm';
  const require = createRequire(import.meta.url);
  const { version } = require('@aws-cdk/asset-kubectl-v20/package.json');
  const program = `${cache}/helm-${version}`;
  if (!existsSync(program)) {
    const zip = readFileSync(require.resolve('@aws-cdk/asset-kubectl-v20/lib/layer.zip'));
    const files = unzipSync(zip, { filter: ({ name }) => name === 'helm/helm' });
    mkdirSync(cache, { recursive: true });
    // Another process may do the same at this moment.
    const mine = `${program}.${process.pid}`;
    writeFileSync(mine, files['helm/helm'], { mode: 0o755 });
    renameSync(mine, program);
  }
  return program;
}

/** The objects of the chart with these values. Throws what Helm says of values that the chart does not take. */
export function renderChart(values, chart = fileURLToPath(new URL('weir', import.meta.url))) {
  const args = ['template', 'weir', chart, '--namespace', 'billing', '--kube-version', KUBERNETES, '--values', '-'];
  let text;
  try {
    text = execFileSync(findHelm(), args, { input: JSON.stringify(values), encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error('helm is not on PATH: the chart is rendered by it', { cause: error });
    throw new Error(error.stderr ?? error.message, { cause: error });
  }
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}
