// A process that queues events with one of the clients, and may be killed and started again. It is known of each event whether the
// client said that it held it.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The root of the repository, from `chaos/sdk` and from `chaos/dist/sdk`. */
const ROOT = fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../..' : '../..', import.meta.url));

type Language = 'typescript' | 'python';

export interface ProducerPlan {
  language: Language;
  baseUrl: string;
  apiKey: string;
  meterToken: string;
  /** Events a second. */
  rate: number;
  /** The folder of its outbox; without one its events are held in memory, and it is not to be killed. */
  outbox?: string;
  onStart?: (pid: number) => void;
}

export class Producer {
  /** The customer that its events are of. */
  readonly name: string;
  /** The marks of the events that the client said it held. */
  readonly queued = new Set<string>();
  /** What it wrote of events that were refused, and all that it wrote to its standard error. */
  readonly complaints: string[] = [];
  kills = 0;
  readonly #plan: ProducerPlan;
  #lives = 0;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown[]> = Promise.resolve([]);

  constructor(plan: ProducerPlan) {
    this.#plan = plan;
    this.name = `${plan.language}-${plan.outbox === undefined ? 'memory' : 'outbox'}`;
  }

  get hasOutbox(): boolean {
    return this.#plan.outbox !== undefined;
  }

  start(): void {
    const { language, baseUrl, apiKey, meterToken, rate, outbox, onStart } = this.#plan;
    this.#lives += 1;
    const [command = '', ...args] = commandOf(language);
    const child = spawn(command, args, {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        ...(process.env['PYENV_VERSION'] !== undefined && { PYENV_VERSION: process.env['PYENV_VERSION'] }),
        PYTHONPATH: `${ROOT}clients/python`,
        WEIR_URL: baseUrl,
        WEIR_API_KEY: apiKey,
        METER_TOKEN: meterToken,
        CUSTOMER: this.name,
        LIFE: String(this.#lives),
        RATE: String(rate),
        ...(outbox !== undefined && { OUTBOX: outbox }),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) onStart?.(child.pid);
    this.#child = child;
    // What is left in the pipes has been read when it closes. A program that is missing is an end as well.
    this.#ended = Promise.race([once(child, 'close'), once(child, 'error').then(([error]) => Promise.reject(error))]);
    this.#ended.catch(() => {});
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      // A line that a kill has torn was not said.
      rest = lines.pop() ?? '';
      for (const line of lines) this.#hear(line);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.complaints.push(text));
  }

  /** Kills it in the middle of whatever it does, and resolves when all that it said has been heard. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#ended;
    this.kills += 1;
  }

  /** Has it queue no more, and resolves when it has ended; rejects unless it ended well. */
  async finish(): Promise<void> {
    this.#child?.stdin?.end();
    const [code, signal] = await this.#ended;
    if (code === 0) return;
    throw new Error(`${this.name} ended with ${String(code ?? signal)}: ${this.complaints.join('')}`);
  }

  #hear(line: string): void {
    const [word, mark = ''] = line.split(' ', 2);
    if (word === 'queued') this.queued.add(mark);
    else this.complaints.push(line);
  }
}

function commandOf(language: Language): string[] {
  if (language === 'python') return ['python3', `${ROOT}chaos/sdk/produce.py`];
  const isBuilt = import.meta.url.includes('/dist/');
  const program = fileURLToPath(new URL(isBuilt ? 'produce-main.js' : 'produce-main.ts', import.meta.url));
  return [process.execPath, ...(isBuilt ? [] : ['--conditions=@weir/source', '--import', 'tsx']), program];
}
