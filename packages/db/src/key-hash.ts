import { hash128 } from '@weir/shared/hash';

/** As the function `idempotency_key_hash` of the database makes it: an id is of fixed length, so no two keys make one text. */
export function keyHash(organizationId: string, key: string): string {
  return hash128(organizationId + key);
}
