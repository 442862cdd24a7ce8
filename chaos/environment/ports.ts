import { findFreePort } from '@weir/services/connection';

/** So many different ports of 127.0.0.1 that nothing listened on a moment ago. */
export async function pickPorts(count: number): Promise<number[]> {
  const picked = new Set<number>();
  while (picked.size < count) picked.add(await findFreePort());
  return [...picked];
}
