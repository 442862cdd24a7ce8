import { openapiTypes } from '@weir/console/openapi-types';
import { expect, test } from 'vitest';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();

test('the console is typed by the document that the API serves; `-u` writes its types anew', async () => {
  const types = await openapiTypes((await weir.request('GET', '/openapi.json')).body as object);
  await expect(types).toMatchFileSnapshot('../../apps/console/src/api/openapi.d.ts');
});
