import { expect, test } from 'vitest';
import { withSettings } from './child-settings.ts';

test('the settings of the children are made once: what was read from a file is not read again', () => {
  const env = { DATABASE_URL_FILE: '/run/secrets/database', PORT: '', SMTP_URL_FILE: '/run/secrets/smtp', HOST: '::1' };
  expect(withSettings(env, { DATABASE_URL: 'postgres://db/weir', PORT: '3000' })).toEqual({
    DATABASE_URL: 'postgres://db/weir',
    PORT: '3000',
    SMTP_URL_FILE: '/run/secrets/smtp',
    HOST: '::1',
  });
});
