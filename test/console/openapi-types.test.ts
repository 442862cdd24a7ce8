import { openapiTypes } from '@weir/console/openapi-types';
import { expect, test } from 'vitest';
import { startWeir } from '../support/harness.ts';

test('the console is typed by the document that the API serves; `-u` writes its types anew', async () => {
  const weir = await startWeir({ withWorker: false });
  try {
    const types = await openapiTypes((await weir.request('GET', '/openapi.json')).body as object);
    await expect(types).toMatchFileSnapshot('../../apps/console/src/api/openapi.d.ts');
  } finally {
    await weir.close();
  }
});
