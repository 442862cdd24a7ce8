// What the Helm chart promises those who run Weir on Kubernetes. There is no cluster here: Helm renders it, and what it made is read.
// That it fits the schemas of Kubernetes is a part of `npm run check`.

import { buildMetrics, type MetricSources } from '@weir/api/http/metrics';
import { apiSettings } from '@weir/api/settings';
import { workerSettings } from '@weir/worker/settings';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderChart, type KubernetesObject } from '../../deploy/helm/render.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Container {
  args: string[];
  image: string;
  env: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  securityContext: object;
  resources: { limits: Record<string, string> };
}

interface PodTemplate {
  metadata: { labels: Record<string, string> };
  spec: { containers: Container[]; terminationGracePeriodSeconds?: number; securityContext: object };
}

const everything = {
  secrets: { SMTP_URL: { name: 'mail', key: 'url' } },
  worker: { autoscaling: { enabled: true } },
  podMonitor: { enabled: true },
};

const templateOf = ({ kind, spec }: KubernetesObject): PodTemplate | undefined =>
  kind === 'CronJob'
    ? (spec as { jobTemplate: { spec: { template: PodTemplate } } }).jobTemplate.spec.template
    : (spec as { template?: PodTemplate }).template;

/** The pods of a chart by what they do: api, worker, migrate and reconcile. */
function podsOf(values: object): Record<string, PodTemplate & { container: Container }> {
  const templates = renderChart(values).flatMap((object) => templateOf(object) ?? []);
  return Object.fromEntries(
    templates.map((template) => {
      const [container] = template.spec.containers as [Container];
      return [template.metadata.labels['app.kubernetes.io/component'], { ...template, container }];
    }),
  );
}

/** Of the chart itself: the ports that the processes listen on, and what stands in a Secret. */
const decided = ['PORT', 'WORKER_PORT', 'DATABASE_URL', 'REDIS_URL', 'SMTP_URL'];

test('every setting of a process can be given, each in one place, and reaches it as it is written', () => {
  const [api, worker] = [Object.keys(apiSettings.shape), Object.keys(workerSettings.shape)];
  const free = (names: string[]) => names.filter((name) => !decided.includes(name));
  const common = free(worker).filter((name) => api.includes(name));
  // A number that Helm would write as 1.048576e+07.
  const given = (names: string[]) => Object.fromEntries(names.map((name) => [name, 10_485_760]));
  const own = (names: string[]) => given(free(names).filter((name) => !common.includes(name)));
  const pods = podsOf({
    ...everything,
    settings: given(common),
    api: { settings: own(api) },
    worker: { settings: own(worker) },
  });
  for (const [process, names] of Object.entries({ api, worker })) {
    const env = pods[process]?.container.env ?? [];
    expect(env.map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const name of free(names)) expect(env.find((entry) => entry.name === name)?.value).toBe('10485760');
  }
});

test('a process listens on all addresses of IPv4, or where the values say', () => {
  const hostsOf = (values: object) => {
    const { api, worker } = podsOf(values);
    return [api, worker].map((pod) => pod?.container.env.filter(({ name }) => name === 'HOST'));
  };
  for (const [values, value] of [
    [{}, '0.0.0.0'],
    [{ settings: { HOST: '' } }, '0.0.0.0'],
    [{ settings: { HOST: '::' } }, '::'],
  ] as const)
    expect(hostsOf(values)).toEqual([[{ name: 'HOST', value }], [{ name: 'HOST', value }]]);
});

test('the values that docs/scale.md names for a Weir that stays stopped leave nothing that runs', () => {
  const [, flags = ''] = /`(--set api\.replicas=0\S*)`/.exec(readFileSync(`${root}/docs/scale.md`, 'utf8')) ?? [];
  const values = {};
  for (const each of flags.replace('--set ', '').split(',')) {
    const [path = '', value = ''] = each.split('=');
    const names = path.split('.');
    const last = names.pop() ?? '';
    const inner = names.reduce<Record<string, unknown>>(
      (within, name) => (within[name] ??= {}) as Record<string, unknown>,
      values,
    );
    inner[last] = JSON.parse(value);
  }
  const objects = renderChart(values);
  const specsOf = (kind: string) => objects.filter((object) => object.kind === kind).map(({ spec }) => spec);
  expect(specsOf('Deployment')).toMatchObject([{ replicas: 0 }, { replicas: 0 }]);
  expect(specsOf('CronJob')).toMatchObject([{ suspend: true }]);
  expect(specsOf('ScaledObject')).toEqual([]);
  // What `kubectl patch` has suspended, an upgrade without the value leaves so.
  expect(renderChart({}).find(({ kind }) => kind === 'CronJob')?.spec).not.toHaveProperty('suspend');
});

test('who installs it behind a proxy is told to name that proxy, until it is named', () => {
  const template = readFileSync(`${root}/deploy/helm/weir/templates/NOTES.txt`, 'utf8');
  expect(template).toMatch(/if not \(dig "TRUST_PROXY" "" \.Values\.api\.settings\) \}\}\n[^{]*TRUST_PROXY/);
});

test('a setting that is misspelt, or of the other process, is refused', () => {
  expect(() => renderChart({ api: { settings: { PUBLIK_URL: 'x' } } })).toThrow(/PUBLIK_URL is not allowed/);
  expect(() => renderChart({ worker: { settings: { SIGNUP: 'open' } } })).toThrow(/SIGNUP is not allowed/);
});

test('the values that docs/scale.md shows are taken', () => {
  const blocks = readFileSync(`${root}/docs/scale.md`, 'utf8').matchAll(/```yaml\n([^`]*)```/g);
  const [values] = [...blocks].flatMap(([, block = '']) => (block.includes('podMonitor') ? [parse(block)] : []));
  const kinds = renderChart(values).map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['Deployment', 'ScaledObject', 'PodMonitor']));
});

test('the image is of the version that the tree has', () => {
  const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string };
  for (const { container } of Object.values(podsOf({}))) expect(container.image).toBe(`weir:${version}`);
});

test('a pod runs a file that a build makes, as nobody in particular, and can write nothing', () => {
  const pods = podsOf(everything);
  expect(Object.keys(pods).sort()).toEqual(['api', 'migrate', 'reconcile', 'worker']);
  for (const { spec, container } of Object.values(pods)) {
    const source = container.args[0]?.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
    expect(existsSync(`${root}/${source}`), source).toBe(true);
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { limits: { memory: expect.any(String) } },
    });
  }
});

test('a difference fails the job of reconcile at once; what could not be found out is looked at again', () => {
  const specs = renderChart({}).flatMap(({ kind, spec }) => (kind === 'CronJob' ? [spec] : []));
  const podFailurePolicy = {
    rules: [{ action: 'FailJob', onExitCodes: { containerName: 'reconcile', operator: 'In', values: [1] } }],
  };
  expect(specs).toMatchObject([{ jobTemplate: { spec: { backoffLimit: 6, podFailurePolicy } } }]);
});

test('nothing is killed before its stop has had the time that it may take', () => {
  const graceOf = (values: object) => {
    const { api, worker } = podsOf(values);
    return [api, worker].map((pod) => pod?.spec.terminationGracePeriodSeconds);
  };
  const services = { DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x' };
  const { DRAIN_DELAY_MS: delay, DRAIN_TIMEOUT_MS: timeout } = apiSettings.parse(services);
  expect(graceOf({})).toEqual([(delay + timeout) / 1000 + 5, timeout / 1000 + 5]);
  expect(graceOf({ settings: { DRAIN_TIMEOUT_MS: '' } })).toEqual(graceOf({}));
  const set = { settings: { DRAIN_TIMEOUT_MS: 20_500 }, api: { settings: { DRAIN_DELAY_MS: 0 } } };
  expect(graceOf(set)).toEqual([26, 26]);
});

test('what looks for pods finds them: the Service, the budgets, the monitor and the scaler', () => {
  const objects = renderChart(everything);
  const pods = Object.values(podsOf(everything)).map(({ metadata, container }) => ({ ...metadata, container }));
  const found = (labels: Record<string, string>) =>
    pods
      .filter((pod) => Object.entries(labels).every(([name, value]) => pod.labels[name] === value))
      .map((pod) => pod.labels['app.kubernetes.io/component']);
  const specsOf = <T>(kind: string) => objects.filter((object) => object.kind === kind).map(({ spec }) => spec as T);

  expect(specsOf<{ selector: Record<string, string> }>('Service').map((spec) => found(spec.selector))).toEqual([
    ['api'],
  ]);
  type Selecting = { selector: { matchLabels: Record<string, string> } };
  for (const kind of ['PodDisruptionBudget', 'Deployment'])
    expect(specsOf<Selecting>(kind).map((spec) => found(spec.selector.matchLabels))).toEqual([['api'], ['worker']]);
  const [monitor] = specsOf<Selecting & { podMetricsEndpoints: { port: string }[] }>('PodMonitor');
  expect(found(monitor?.selector.matchLabels ?? {})).toEqual(expect.arrayContaining(['api', 'worker']));
  for (const { container } of pods.filter((pod) => pod.container.ports !== undefined))
    expect(container.ports?.map(({ name }) => name)).toContain(monitor?.podMetricsEndpoints[0]?.port);

  interface Scaled {
    scaleTargetRef: { name: string };
    triggers: { metadata: { query: string } }[];
  }
  const [scaled] = specsOf<Scaled>('ScaledObject');
  const target = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === scaled?.scaleTargetRef.name,
  );
  expect(target?.metadata.labels['app.kubernetes.io/component']).toBe('worker');
  // Who scales it would else be undone by each upgrade.
  expect(target?.spec).not.toHaveProperty('replicas');
  const metric = /\bweir_\w+/.exec(scaled?.triggers[0]?.metadata.query ?? '')?.[0] ?? '';
  expect(buildMetrics({} as MetricSources).registry.getSingleMetric(metric)).toBeDefined();
});

test('Prometheus knows the pods by the job that the rules of docs/operations.md look for', () => {
  const [, selector = ''] = /\bup\{job=~"([^"]+)"\}/.exec(readFileSync(`${root}/docs/operations.md`, 'utf8')) ?? [];
  const [monitor] = renderChart(everything).flatMap(({ kind, spec }) =>
    kind === 'PodMonitor' ? [spec as { jobLabel?: string }] : [],
  );
  // Without a label that says it, the job is the namespace and the name of the monitor.
  const jobLabel = monitor?.jobLabel ?? '';
  const { api, worker } = podsOf(everything);
  // Prometheus holds the whole of a label against a pattern.
  for (const pod of [api, worker]) expect(pod?.metadata.labels[jobLabel]).toMatch(new RegExp(`^(?:${selector})$`));
});

test('the check finds a field that Kubernetes does not have', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chart-'));
  try {
    cpSync(`${root}/deploy/helm/weir`, folder, { recursive: true });
    const planted = 'apiVersion: v1\nkind: Service\nmetadata: { name: planted }\nspec: { selektor: { a: b } }\n';
    appendFileSync(join(folder, 'templates/planted.yaml'), planted);
    const { status, stdout } = spawnSync('node', [`${root}/deploy/helm/check.mjs`, folder], { encoding: 'utf8' });
    expect(stdout).toMatch(/defaults-Service-planted.*selektor/);
    expect(status).toBe(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('what docs/scale.md has for Kubernetes', () => {
  const page = readFileSync(`${root}/docs/scale.md`, 'utf8');
  const commands = page.slice(page.indexOf('### Commands on Kubernetes'), page.indexOf('## The next step'));
  /** The block of commands that has this text. */
  const blockWith = (text: string): string =>
    [...commands.matchAll(/```sh\n([^`]*)```/g)].flatMap(([, block = '']) =>
      block.includes(text) ? [block] : [],
    )[0] ?? '';
  const [cronJob] = renderChart(everything).filter(({ kind }) => kind === 'CronJob');

  /** The labels that a selector asks for, each with the values that it takes. */
  const labelsOf = (selector: string): [name: string, values: string[]][] =>
    [...selector.matchAll(/([\w./]+)(?:=(\w+)| in \(([\w,]+)\))/g)].map(([, name = '', value, values = '']) => [
      name,
      value === undefined ? values.split(',') : [value],
    ]);
  const isFound = (labels: Record<string, string>, selector: string): boolean =>
    labelsOf(selector).every(([name, values]) => values.includes(labels[name] ?? ''));

  test('a job has another name each time, and is waited for', () => {
    const names = [...commands.matchAll(/kubectl create job (.*?) --from=cronjob\/(\S+?)[ `]/g)];
    expect(names).toHaveLength(2);
    const [, variable] = /^job=(.*)$/m.exec(commands) ?? [];
    for (const [, name = '', from] of names) {
      expect(name.replace('$job', variable ?? '')).toMatch(/^[a-z-]+-\$\(date \+%s\)$/);
      expect(from).toBe(cronJob?.metadata.name);
    }
    // What is there already would be left as it is.
    expect(commands).not.toMatch(/kubectl (apply|replace)/);
    expect(blockWith('kubectl create job')).toMatch(
      /kubectl create -f -\nkubectl wait job\/\$job --for=condition=complete/,
    );
  });

  test('a stop ends what runs, and comes back when nothing does', () => {
    const block = blockWith('--replicas=0');
    const [, jobs = ''] = /kubectl delete job -l (\S+) --cascade=foreground$/m.exec(block) ?? [];
    const { jobTemplate } = (cronJob?.spec ?? {}) as {
      jobTemplate?: { metadata?: { labels: Record<string, string> } };
    };
    expect(labelsOf(jobs).map(([name]) => name)).toContain('app.kubernetes.io/component');
    expect(isFound(jobTemplate?.metadata?.labels ?? {}, jobs)).toBe(true);
    const [, pods = ''] = /--replicas=0\n(?:.*\n)*?kubectl wait pod -l '([^']+)' --for=delete/.exec(block) ?? [];
    const waitedFor = Object.entries(podsOf(everything)).filter(([, { metadata }]) => isFound(metadata.labels, pods));
    expect(waitedFor.map(([component]) => component).sort()).toEqual(['api', 'worker']);
  });

  test('a start after a restore has workers bill nothing and send nothing', () => {
    const [, settings = ''] = /^kubectl set env deploy weir-worker (.*?) +#/m.exec(blockWith('--replicas=3')) ?? [];
    expect(settings.split(' ')).toEqual(['BILLING_CONCURRENCY=0', 'WEBHOOK_CONCURRENCY=0']);
  });

  test('the alarm for reconcile looks at each CronJob by itself, also at one that has never succeeded', () => {
    const [rule] = [...page.matchAll(/```yaml\n([^`]*)```/g)].flatMap(([, block = '']) =>
      block.includes('WeirReconcileFails') ? [(parse(block) as { expr: string }[])[0]] : [],
    );
    const expr = (rule?.expr ?? '').replaceAll(/\s+/g, ' ').trim();
    expect(expr).not.toMatch(/\b(max|min|sum|avg|count|group|topk)\b/);
    const [old = '', never = ''] = expr.split(' or ');
    const last = 'kube_cronjob_status_last_successful_time';
    expect(old).toMatch(new RegExp(`^time\\(\\) - ${last}\\{.*\\} > \\d+`));
    expect(never).toMatch(
      new RegExp(`^\\(time\\(\\) - kube_cronjob_created\\{.*unless on \\(namespace, cronjob\\) ${last}\\)$`),
    );
    const selectors = [...expr.matchAll(/cronjob=~"([^"]+)"/g)];
    expect(selectors).toHaveLength(2);
    for (const [, selector] of selectors) {
      expect(cronJob?.metadata.name).toMatch(new RegExp(`^(?:${selector})$`));
      expect('backup-reconcile').not.toMatch(new RegExp(`^(?:${selector})$`));
    }
  });
});
