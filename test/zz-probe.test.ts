import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, type Weir } from './harness.ts';
let weir: Weir;
beforeAll(async () => { weir = await startWeir({ withWorker: false }); });
afterAll(() => weir.close());
test('probe 413', async () => {
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const failures: Record<string, number> = {};
  await Promise.all(Array.from({length: 8}, async () => { for (let i=0;i<25;i++) {
    const r = await weir.request('POST','/api/v1/sdk/track',{apiKey, raw: 'x'.repeat(5_000_000)}).then(r=>String(r.status), (e)=>String(e.cause?.code ?? e));
    failures[r] = (failures[r] ?? 0)+1;
  }}));
  console.log(failures);
});
