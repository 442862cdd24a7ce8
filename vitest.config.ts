import { defaultExclude, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/setup/longest-first.ts';

/** What a test imports of this repository is its source. Programs that a test starts are built before. */
const conditions = ['@weir/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@weir/source'] } },
  test: {
    exclude: [...defaultExclude, '**/dist/**'],
    // The machine it has to run on has two cores, and each file has a database and processes of its own. Tests wait for much of their time:
    // of two files at once the cores were idle for a third of it.
    maxWorkers: 3,
    // Loading the whole of Weir anew for each file took a third of the time. Files share a process, and no database or queue.
    isolate: false,
    // V8 compiles for speed what has been called ten times as often as it would otherwise: much runs a few times only, and to compile it
    // took an eighth of the processes' time. Later versions of Node do not know the option.
    execArgv: process.versions.node.startsWith('20.') ? ['--interrupt-budget=1352000'] : [],
    sequence: { sequencer: LongestFirst },
    // How long a busy machine may take. What is to be so soon says so itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Postgres and Redis stop within seconds. What else keeps a process from ending is not waited for.
    teardownTimeout: 15_000,
    // One project, so that all files share the same three processes: vitest starts others for each. Those beside the code need no services.
    include: ['packages', 'apps', 'services', 'bench', 'chaos', 'test'].map((folder) => `${folder}/**/*.test.ts`),
    globalSetup: ['test/support/setup/programs.ts', 'test/support/setup/services.ts'],
  },
});
