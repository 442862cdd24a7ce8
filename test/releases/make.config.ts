// npm run release-dump: not a test, but it needs what tests have.

import { defineConfig, mergeConfig } from 'vitest/config';
import tests from '../../vitest.config.ts';

const { include: _, ...shared } = tests.test ?? {};

export default mergeConfig(
  { ...tests, test: shared },
  defineConfig({
    test: {
      include: ['test/releases/make-release.ts'],
      testTimeout: 120_000,
      hookTimeout: 60_000,
    },
  }),
);
